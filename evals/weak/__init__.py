"""A weak reader: recorded replies of a strong model, with the faults that a model of 8B makes."""
