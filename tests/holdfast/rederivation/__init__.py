"""Tests of rederivations."""
