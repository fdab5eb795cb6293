"""The definition of a role, the dialogue with a model, answer schemas and replies."""
