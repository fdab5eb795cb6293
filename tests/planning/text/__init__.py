"""Tests of text: chunks, quotes, tokens, vocabularies."""
