"""Tests of collections and searches in PostgreSQL."""
