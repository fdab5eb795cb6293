"""Benchmarks of a worker process: its memory."""
