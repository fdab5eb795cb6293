"""The PostgreSQL tables, one module per subject; only storage imports them."""
