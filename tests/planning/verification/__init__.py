"""Tests of verification: verdicts, contradictions, stop conditions."""
