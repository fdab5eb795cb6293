"""Read-only queries across subjects: job counters, progress, statistics and report inputs."""
