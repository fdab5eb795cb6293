"""Tests that what MCP answers names tools where the command line names commands."""

import re

import pytest

from holdfast.mcp_server.commands_as_tools import TOOLS, in_tools
from tests.support.jobs.running_engine import RunningEngine
from tests.support.named_commands import named_commands
from tests.support.services.http_service import HttpService
from tests.support.services.mcp_host import answer_of, mcp_host, refusal_of

OF_THE_OPERATOR = {
    *("corpus", "corpus add", "erase", "import", "keys create", "erasures", "keys list", "prune"),
    *("quotas list", "quotas set", "serve", "up", "webhooks list"),
}
"""Commands that no tool can replace: they run the installation, or decide who may use it."""


def test_each_command_that_an_error_names_has_its_tool() -> None:
    left = {command for command in named_commands() if in_tools(command) == command}

    names = {re.sub(r"`holdfast ([a-z]+(?: [a-z]+)?).*", r"\1", command) for command in left}
    assert names <= OF_THE_OPERATOR


@pytest.mark.slow
async def test_states_and_refusals_name_tools_of_the_server(
    engine: RunningEngine, serving: HttpService
) -> None:
    job = await engine.submit("Who?", review=True)
    async with mcp_host(serving) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        asked = await answer_of(client, "research_wait", job=job)
        refusals = [
            await refusal_of(client, "research_status", job="job-none"),
            await refusal_of(client, "research_report", job=job),
            await refusal_of(client, "research_answer", job=job, question=7),
        ]
        stopped = await answer_of(client, "research_stop", job=job)

    said = [*asked["blocked_by"], *refusals, stopped["note"], stopped["next"]]
    assert not any("holdfast " in each or "/v1/" in each for each in said), said
    assert "give it with `research_answer`" in asked["blocked_by"][0]
    assert f"`research_wait` of the job {job} shows when it has ended" in refusals[1]
    named = {name for words in TOOLS.values() for name in re.findall(r"`(research_\w+)`", words)}
    assert named <= tools
