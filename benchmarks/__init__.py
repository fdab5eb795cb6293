"""Benchmarks: how fast Holdfast is and what a crash costs, compared with other systems in the same
run."""
