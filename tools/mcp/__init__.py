"""The MCP hub, its server configuration, and the checks on tools, arguments and secrets."""
