"""Define API keys, their scopes, and the entries of the audit."""
