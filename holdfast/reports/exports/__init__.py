"""Write a report as other programs take it: word processors, PDF, reference managers, Obsidian."""
