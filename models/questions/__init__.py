"""Questions to people and control requests by people, as data."""
