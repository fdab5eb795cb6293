"""Execute all SQL of Holdfast: jobs, plans, calls, evidence, questions, corpus and views."""
