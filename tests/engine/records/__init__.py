"""Tests of forks, comparisons and updates of whole jobs."""
