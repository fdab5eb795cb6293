"""Implement the commands that work with jobs as records."""
