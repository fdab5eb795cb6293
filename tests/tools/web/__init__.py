"""Tests of the web and wikipedia servers."""
