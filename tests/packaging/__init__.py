"""Tests of what users install: the wheel, in environments without the repository."""
