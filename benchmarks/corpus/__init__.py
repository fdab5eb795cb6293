"""Benchmarks of the corpus: storing and searching, compared with other search systems."""
