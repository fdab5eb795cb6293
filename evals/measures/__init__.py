"""Questions, the engine that works them, and the measures of answers and citations."""
