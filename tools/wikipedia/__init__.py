"""Search and read a MediaWiki such as Wikipedia, and the MCP server `wikipedia`."""
