"""Guard the embedded Temporal UI: only pages of the UI itself reach its API."""
