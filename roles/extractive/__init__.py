"""Built-in model that plays every role by rules over tool responses; it writes no prose."""
