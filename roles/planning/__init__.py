"""Roles that write or change a plan, or the steps of one agent."""
