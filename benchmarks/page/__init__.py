"""Measure the page in a real Chromium: first paint, bytes, lateness, many streams, memory."""
