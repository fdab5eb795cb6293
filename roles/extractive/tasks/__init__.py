"""The reasoner and the matcher by rules: compare values, match spellings."""
