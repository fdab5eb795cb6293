"""Tests of planning, which is pure: laws as property tests."""
