"""Model roles, grouped by subject, and the models that can play them."""
