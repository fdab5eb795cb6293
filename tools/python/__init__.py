"""Python that a model wrote, run where it can reach nothing: in an interpreter of its own."""
