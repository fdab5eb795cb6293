"""Tests of the control of a job: pause, resume, cancel, retry, and every ending."""
