"""List what an installation offers: models, agents, tools, presets and settings."""
