"""Calls to models and tools as data: requests, completions, tool answers, figures."""
