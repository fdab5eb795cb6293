"""Read files and pages of many formats into text, and split the text into passages."""
