"""Coordination benchmark: seven patterns of team work as jobs of the engine, without a model."""
