"""Say who sends a request, and what the sender may do."""
