"""Installations that an earlier commit left in the middle of jobs; today's code continues them."""
