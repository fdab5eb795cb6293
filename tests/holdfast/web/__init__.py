"""Tests of the web page, in Chromium where it is there."""
