"""Serve jobs, reports, figures and event logs over HTTP, read-only."""
