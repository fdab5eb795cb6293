"""Decide who answers a question, and which answers a question accepts."""
