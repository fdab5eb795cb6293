"""Tests of the MCP hub: calls, failing servers, answers, schemas, vocabularies."""
