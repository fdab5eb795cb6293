"""The local corpus as data: search criteria and the embedding endpoint."""
