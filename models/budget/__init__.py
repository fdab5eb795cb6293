"""Costs as data: prices of models, spent tokens and money, and estimates of a plan."""
