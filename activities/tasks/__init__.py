"""Run one tool task or reasoning task of a plan and store its outcome."""
