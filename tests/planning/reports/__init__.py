"""Tests of delivery checks, report groups and sentence support."""
