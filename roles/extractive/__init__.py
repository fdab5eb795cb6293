"""The built-in model: plays every role by rules over what the tools return, and writes no prose."""
