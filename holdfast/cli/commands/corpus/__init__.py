"""Implement the commands that add, list, search and remove collections of documents."""
