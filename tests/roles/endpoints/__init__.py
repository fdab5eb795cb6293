"""Tests of the model endpoint: requests, dialogues, replies."""
