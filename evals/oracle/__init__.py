"""Oracle runs: plans that are right, tools that know all, so that what is measured is the engine."""
