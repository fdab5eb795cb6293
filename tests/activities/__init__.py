"""Tests of activities without a workflow."""
