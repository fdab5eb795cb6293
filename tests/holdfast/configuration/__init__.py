"""Tests of the configuration: agents, embeddings, prices and built-in servers of `holdfast.toml`."""
