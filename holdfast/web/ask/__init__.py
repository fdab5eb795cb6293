"""Ask over files that come with the question."""
