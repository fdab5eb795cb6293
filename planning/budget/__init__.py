"""Compute what a job costs: plan estimates, spend totals, and the question at the cap."""
