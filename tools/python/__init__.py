"""Run Python code that a model wrote, isolated from files and network."""
