"""Benchmarks of the engine's speed: overhead per task, critical path, time to the first report."""
