"""Fixtures of the tests of the MCP server: a worker, and a server of HTTP."""

from collections.abc import Iterator

import pytest

from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools


@pytest.fixture
def serving(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> Iterator[HttpService]:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    with HttpService(engine.holdfast, writes=True) as serving:
        yield serving
