"""A small sentence model that computes vectors on this machine without a key or PyTorch."""
