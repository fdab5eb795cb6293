"""Shared parts of the benchmarks: services, job graphs, stand-ins, figures."""
