"""Measure the built-in model without services: one question at a time, in this process."""
