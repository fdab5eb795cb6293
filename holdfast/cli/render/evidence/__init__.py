"""Format sources, citations, rechecks, retractions and verification rounds for a terminal."""
