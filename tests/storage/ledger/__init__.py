"""Tests of the call ledger, the budget reservation, recoveries and figures in PostgreSQL."""
