"""Serve Holdfast to MCP hosts: tools that start, follow, steer and read research jobs."""
