"""Start, replace, find and stop the supervisor of the local worker, as `holdfast up` does."""
