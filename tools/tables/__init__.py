"""SQL over the tables in a folder: files are read, and nothing is ever written."""
