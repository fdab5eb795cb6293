"""Alembic migrations: each does one thing, is named for it, and goes down as well as up."""
