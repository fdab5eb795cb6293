"""Tests of questions to people: approval, review, answers."""
