"""Decide which action a job starts next, how its state changes, and how it ends."""
