"""Roles that carry out a task: extractor, reasoner, matcher of tool arguments."""
