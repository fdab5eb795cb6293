"""Shared by all activities: model calls, tool calls, task outcomes, interceptors and recovery."""
