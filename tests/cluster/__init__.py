"""Tests of jobs on a real Temporal cluster: `make cluster-test`."""
