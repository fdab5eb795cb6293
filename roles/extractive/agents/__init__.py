"""The roles of one agent by rules: plan, take, assess and replan steps."""
