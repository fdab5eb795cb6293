"""Measure open reports: by rules, and by a model that judges rubrics and claims."""
