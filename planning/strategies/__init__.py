"""Load presets and agents, and build the fixed plans of the baselines."""
