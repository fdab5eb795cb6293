"""All SQL of Holdfast: jobs, plans, memory, the call ledger, evidence, events, the corpus."""
