"""Schedules and their runs; PostgreSQL knows them all, and Temporal only their times."""
