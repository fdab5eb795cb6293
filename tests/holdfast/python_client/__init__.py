"""Tests for the Python client."""
