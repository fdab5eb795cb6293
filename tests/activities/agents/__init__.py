"""Tests of agent activities."""
