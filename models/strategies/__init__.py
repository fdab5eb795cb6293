"""Settings of a job and of its agents: the strategy and the agent profiles."""
