"""Store API keys and the audit."""
