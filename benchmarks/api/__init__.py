"""Measure the HTTP API: first events, many followers, many jobs, many submissions at once."""
