"""Tools for tests: scripted tools, MCP server processes, web sites."""
