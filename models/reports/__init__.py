"""Facts about a report: its verification and the provenance of its sentences."""
