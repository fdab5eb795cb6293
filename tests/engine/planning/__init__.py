"""Tests of planning and replanning a job."""
