"""Workflows: carry out durably, step by step, the actions that planning decides."""
