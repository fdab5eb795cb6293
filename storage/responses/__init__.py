"""Store responses of the Responses API."""
