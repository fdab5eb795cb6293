"""The spans of a job's trace."""
