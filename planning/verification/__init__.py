"""Decide which results are verified, which verdict counts, and when verification stops."""
