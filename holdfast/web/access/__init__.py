"""Let a browser sign in, and refuse what other sites make it send."""
