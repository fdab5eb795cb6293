"""Tests of plans: validation, merging, revision, editing, references."""
