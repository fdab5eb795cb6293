"""Tests of jobs with a budget and limits on calls."""
