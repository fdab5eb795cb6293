"""Read the results of MCP tool calls: text, passages, images and errors."""
