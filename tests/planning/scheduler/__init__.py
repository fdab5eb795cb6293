"""Tests of the next actions of a job and of failure classes."""
