"""Oracle runs: correct plans and perfect tools, so that only the engine is measured."""
