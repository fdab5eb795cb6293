"""Tests of Holdfast; the folders mirror the code."""
