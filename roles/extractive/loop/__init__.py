"""Play the cited loop by rules."""
