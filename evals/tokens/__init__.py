"""Token figures of prompts: recorded requests beside the same inputs in today's words."""
