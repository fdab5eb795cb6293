"""Tests of the model roles."""
