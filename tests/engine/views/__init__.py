"""Tests of what a job shows: status, event log, Temporal history, sources."""
