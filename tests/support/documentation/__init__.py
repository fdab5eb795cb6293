"""Support for tests of the documentation: its pages, links and commands."""
