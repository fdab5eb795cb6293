"""Implement the commands that start, watch, show, change and review jobs and their plans."""
