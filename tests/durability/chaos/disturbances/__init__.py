"""What a round does to an installation while its jobs run."""
