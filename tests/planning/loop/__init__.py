"""Tests of the decisions of the cited loop."""
