"""Forty documents of an invented company, a customer's questions, and reports on them."""
