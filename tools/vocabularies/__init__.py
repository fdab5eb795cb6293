"""Allowed values of tool parameters, and the sources of these values."""
