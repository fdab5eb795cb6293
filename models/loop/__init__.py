"""The cited loop: its functions, messages, answers and results."""
