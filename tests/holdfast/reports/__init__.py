"""Tests of reports as Markdown and HTML, and of their figures."""
