"""Tests of the front door: command line, HTTP service, configuration, reports, services."""
