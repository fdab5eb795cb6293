"""Tests of what survives crashes, outages and lost workers."""
