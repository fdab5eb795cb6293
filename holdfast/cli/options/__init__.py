"""Check the options and arguments of commands and turn them into typed values."""
