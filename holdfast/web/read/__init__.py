"""Gather what the page of a report shows: checks in words, and passages with their proof."""
