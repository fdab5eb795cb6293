"""Tests of what hostile pages, secrets and requests must not do."""
