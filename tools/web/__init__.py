"""How Holdfast reaches the open web: guarded, polite, bounded, and only where it is turned on."""
