"""Render a report as Markdown, HTML and JSON, and export its figures."""
