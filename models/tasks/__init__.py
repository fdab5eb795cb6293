"""Results of tasks as data: attempts with their entities, failures, and findings."""
