"""Turn values into HTML: templates, words for states, and drawings."""
