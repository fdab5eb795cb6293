"""Speak the Responses API: its requests, its replies, and responses in the background."""
