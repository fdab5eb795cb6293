"""Verification as data: verdicts on results, the stop log, and the rounds."""
