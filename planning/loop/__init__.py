"""Decide in the cited loop: prompts, passage numbers, proof of sentences, when to stop."""
