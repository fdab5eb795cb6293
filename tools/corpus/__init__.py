"""Search and read the user's document collections, and the MCP server `corpus`."""
