"""Tests of jobs with failing model endpoints and the fallback model."""
