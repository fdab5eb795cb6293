"""Tests of verification rounds and gap filling."""
