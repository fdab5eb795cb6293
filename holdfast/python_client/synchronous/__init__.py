"""The client for programs without asyncio; `make client` makes it."""
