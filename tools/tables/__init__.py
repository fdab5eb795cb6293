"""Answer SQL queries over the table files of a folder, read-only."""
