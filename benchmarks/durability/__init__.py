"""Benchmarks of long jobs and crashes: recovery after a kill, growth with the length of a job."""
