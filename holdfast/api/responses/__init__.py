"""Serve jobs as responses of the OpenAI Responses API."""
