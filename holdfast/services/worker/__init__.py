"""Keep the worker running: its supervisor, its name, and the takeover of a dead worker's work."""
