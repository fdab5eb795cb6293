"""The MCP hub, its configuration, and the built-in MCP servers."""
