"""Search providers, one file each; `search_provider` defines the interface of a provider."""
