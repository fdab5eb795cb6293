"""Tell other programs when a job ends, pauses or asks."""
