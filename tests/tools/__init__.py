"""Tests of the tools, through a real hub where possible."""
