"""Check values against JSON schemas that foreign tool servers wrote."""
