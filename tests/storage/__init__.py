"""Tests of storage on a real PostgreSQL."""
