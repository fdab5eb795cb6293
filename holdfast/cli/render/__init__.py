"""Format jobs, tasks, questions, amounts and statistics as text and tables for a terminal."""
