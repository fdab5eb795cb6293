"""Repeat the comparison of each paper, with an oracle or with a real model."""
