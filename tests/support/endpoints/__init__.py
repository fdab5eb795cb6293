"""Endpoints for tests: the scripted model and its roles, embeddings, a server for any ASGI app."""
