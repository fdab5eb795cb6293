"""Declare all commands with their options; check arguments before a command's code is imported."""
