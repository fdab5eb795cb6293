"""Benchmarks of tool calls through the hub."""
