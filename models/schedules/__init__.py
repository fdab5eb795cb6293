"""What asks a question again, or updates a report, at certain times."""
