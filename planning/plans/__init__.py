"""Check and change plans: validation, continuation, revision, references between tasks."""
