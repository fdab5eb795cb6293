"""Begin, control and end a job, and record people's answers to its questions."""
