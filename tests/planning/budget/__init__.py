"""Tests of the budget: estimates, spending, answers to the budget question."""
