"""Tests of reading documents and splitting them into passages."""
