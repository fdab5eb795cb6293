"""MCP servers that tests start as processes."""
