"""Roles that work an agent task turn by turn: stepper, assessor, answerer."""
