"""Tests of jobs with agents: agent tasks, configured agents, questions of agents."""
