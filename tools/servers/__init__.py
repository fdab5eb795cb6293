"""The MCP servers that come with Holdfast."""
