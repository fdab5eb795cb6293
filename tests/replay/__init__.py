"""Histories of jobs as earlier releases wrote them; today's workflow must replay each of them."""
