"""Tests of jobs on the whole engine, by subject."""
