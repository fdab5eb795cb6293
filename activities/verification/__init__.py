"""Verify the results of a job and fill the gaps that a verification round found."""
