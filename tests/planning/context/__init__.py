"""Tests of what the roles of an agent are shown."""
