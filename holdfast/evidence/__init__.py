"""Trace report sentences to their sources, reread cited sources, and retract evidence."""
