"""Decide what a job does next and check results: pure functions over `models`."""
