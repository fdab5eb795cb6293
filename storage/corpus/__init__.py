"""Store and search document collections: documents, passages, word counts and vectors."""
