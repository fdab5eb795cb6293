"""Tests of the report activity: parts, sentence checks, delivery."""
