"""Hold what all workers share of a model: its limits, and the pauses that its endpoint asks for."""
