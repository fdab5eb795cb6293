"""Oracle runs: right plans and tools that know all, so that the engine is what is measured."""
