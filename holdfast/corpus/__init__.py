"""Read documents into a collection and compute the vectors of their passages."""
