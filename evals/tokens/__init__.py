"""Token figures of prompts: recorded requests and the same inputs in today's words."""
