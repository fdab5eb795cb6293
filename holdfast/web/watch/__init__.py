"""Gather and lay out what the page of one job shows."""
