"""The front door: command line, client, settings, logs and the embedded services."""
