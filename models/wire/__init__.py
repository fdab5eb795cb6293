"""Closed sets of words that PostgreSQL and Temporal histories keep, or that clients read.

From the first release on a word may be added here, but none is renamed or removed: stored rows,
running jobs and clients' programs know the words. docs/changing-workflows.md lists them.
"""
