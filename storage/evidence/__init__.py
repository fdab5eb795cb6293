"""Read and write evidence: sources, retractions, source checks, verdicts and reports."""
