"""Traces of jobs, made from the ledger."""
