"""Evaluations: how good the answers are, measured over public questions with the whole engine."""
