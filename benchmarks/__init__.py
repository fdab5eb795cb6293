"""How fast Holdfast is, measured against bare Temporal in the same run."""
