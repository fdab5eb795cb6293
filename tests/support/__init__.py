"""Shared parts of the tests; the only stand-in is the scripted model, which speaks the real
protocol."""
