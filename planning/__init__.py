"""What comes next, and whether a result keeps its promise: pure functions over `models`."""
