"""Processes and services for tests: the command line, the HTTP service, PostgreSQL."""
