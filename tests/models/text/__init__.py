"""Tests of the text modules."""
