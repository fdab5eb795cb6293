"""The planner, replanner and reviser by rules: a question becomes searches."""
