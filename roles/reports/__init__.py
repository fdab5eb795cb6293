"""Roles that write the report: synthesiser, condenser."""
