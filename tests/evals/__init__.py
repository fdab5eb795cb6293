"""Tests of the evaluations."""
