"""Check a task attempt's result: KPI check, value types, feedback, merge of attempts."""
