"""Make text storable, safe to show and inert in prompts; render values as text."""
