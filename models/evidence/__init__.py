"""Evidence as data: quotes in stored sources, citations, and checks of sources."""
