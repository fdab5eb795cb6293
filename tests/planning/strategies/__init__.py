"""Tests of strategies and presets."""
