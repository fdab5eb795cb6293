"""Public entry points: Python client, command line, HTTP API, settings, embedded services."""
