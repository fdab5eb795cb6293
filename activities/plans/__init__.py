"""Make a research plan, have it approved, replan after a failure and revise it."""
