"""The synthesiser and the condenser by rules."""
