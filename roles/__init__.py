"""The model's roles, one file each, and the models that can play them."""
