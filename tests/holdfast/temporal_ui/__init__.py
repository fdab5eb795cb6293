"""Tests for the guard of the embedded Temporal UI."""
