"""Ask questions again at certain times, and say what changed."""
