"""Analyse a question: kind of the answer, nested descriptions, compared pairs."""
