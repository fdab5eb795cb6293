"""Tests of the built-in extractive model."""
