"""Tests of the MCP server that hosts talk to."""
