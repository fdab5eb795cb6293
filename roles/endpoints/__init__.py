"""Clients of OpenAI-compatible endpoints: chat completions, embeddings, errors."""
