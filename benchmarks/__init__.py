"""How fast Holdfast is and what a crash costs, measured against others in the same run."""
