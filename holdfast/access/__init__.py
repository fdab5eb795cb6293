"""Make, check, rotate and revoke API keys."""
