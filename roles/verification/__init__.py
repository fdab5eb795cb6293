"""Roles that judge results and report sentences: verifier, sentence checker."""
