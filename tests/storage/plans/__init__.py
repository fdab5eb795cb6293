"""Tests of plans and tasks in PostgreSQL."""
