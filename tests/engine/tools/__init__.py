"""Tests of jobs that call tools: arguments, failures, the web, computing and drawing."""
