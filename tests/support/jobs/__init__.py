"""Jobs for tests: plans, a running engine, stored jobs with made-up results."""
