"""Connections to MCP servers: in this process, over stdin and stdout, and over HTTP."""
