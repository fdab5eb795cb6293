"""Recall of corpus searches by words, by meaning and by both, over pooled paragraphs."""
