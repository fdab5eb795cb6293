"""Derive the decisions of a job again from what is stored, without a model, and compare them."""
