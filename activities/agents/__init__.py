"""Run one turn of an agent task: build its context, decide, and route its questions."""
