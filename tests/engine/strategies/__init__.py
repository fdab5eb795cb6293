"""Tests of whole strategies: presets and the papers' worked cases."""
