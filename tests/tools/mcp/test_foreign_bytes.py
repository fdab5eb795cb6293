"""Property tests that any configuration file, edited plan or server output is read or refused."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.configuration.configured_agents import read_agents
from holdfast.configuration.price_settings import read_prices
from holdfast.models.errors import BadConfiguration, BadInput
from holdfast.models.plans.research_plan import Plan
from holdfast.planning.plans.plan_edits import edit_change, parse_plan
from holdfast.planning.plans.plan_validation import PlanRules, plan_faults
from holdfast.tools.mcp.server_config import read_servers
from holdfast.tools.mcp.transports import stdio_transport
from tests.support.jobs.plan_builders import TOOLS, final_task, lookup_task, plan

KEYS = st.sampled_from(
    [
        "servers",
        "agents",
        "prices",
        "currency",
        "lab",
        "url",
        "command",
        "env",
        "cwd",
        "timeout_s",
        "bind",
        "vocabulary",
        "file",
        "tool",
        "tier",
        "description",
        "tools",
        "model",
        "input",
        "output",
        "max_steps",
        "headers_env",
        "concurrency",
    ]
)
SCALARS = (
    st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=True)
    | st.text(st.characters(codec="utf-8"), max_size=12)
    | st.sampled_from(["http://x.invalid", "data", "lab", "../..", "/dev/null", "$HOME"])
)
TABLES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(KEYS, TABLES, max_size=4)


def as_toml(value: Any, is_top: bool = True) -> str:
    """Inline tables all the way down: enough TOML for any value here."""
    match value:
        case dict():
            rows = [f"{json.dumps(key)} = {as_toml(each, False)}" for key, each in value.items()]
            return "\n".join(rows) if is_top else "{" + ", ".join(rows) + "}"
        case list():
            return "[" + ", ".join(as_toml(each, False) for each in value) + "]"
        case bool() | int():
            return json.dumps(value)
        case float():
            return repr(value)
        case _:
            return json.dumps(value, ensure_ascii=True)


@given(DOCUMENTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_configuration_is_read_or_says_what_to_write(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "holdfast.toml"
    path.write_text(as_toml(content), encoding="utf-8")

    for read in (read_servers, read_agents, read_prices):
        try:
            read(path)
        except BadConfiguration as error:
            assert str(path) in str(error)  # noqa: PT017 - other ways out are right as well


@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_in_the_place_of_a_configuration(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "holdfast.toml"
    path.write_bytes(content)

    with suppress(BadConfiguration):
        read_servers(path)


STORED = plan(
    lookup_task("T1", query="a"), lookup_task("T2", "T1", query="b"), final_task("T3", "T2")
)
PLAN_WORDS = st.sampled_from(
    [
        "tasks",
        "id",
        "kind",
        "tool",
        "agent",
        "inputs",
        "expects",
        "depends_on",
        "priority",
        "name",
        "value",
        "type",
        "T1",
        "T2",
        "T3",
        "T9",
        "reasoning",
        "lab.wikipedia_search",
        "final_answer",
        "string",
        "<JSON_PATH>T1.value</JSON_PATH>",
        "is_reference",
        "parent",
        "status",
        "done",
    ]
)
PLAN_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | PLAN_WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAN_WORDS, inner, max_size=5),
)
TASKS = st.fixed_dictionaries(
    {"id": PLAN_WORDS, "kind": st.sampled_from(["tool", "reasoning"])},
    optional={
        "description": PLAN_VALUES,
        "tool": PLAN_WORDS,
        "inputs": PLAN_VALUES,
        "expects": PLAN_VALUES,
        "depends_on": PLAN_VALUES,
        "priority": PLAN_VALUES,
    },
)


@given(
    st.text(max_size=200)
    | PLAN_VALUES.map(json.dumps)
    | st.lists(TASKS, max_size=4).map(lambda tasks: json.dumps({"tasks": tasks}))
)
def test_any_text_in_the_place_of_a_plan_is_a_plan_or_refused(text: str) -> None:
    try:
        wanted = parse_plan(text)
    except BadInput:
        return
    assert isinstance(wanted, Plan)
    ground = PlanRules(tools={each.name: each for each in TOOLS}, requires_entities=True)  # type: ignore[attr-defined]
    faults = plan_faults(wanted, ground)
    assert all(isinstance(fault, str) and fault for fault in faults)
    if not faults:
        edit_change(STORED, wanted).apply_to(STORED)


LINES = st.lists(
    st.binary(max_size=40)
    | st.sampled_from(
        [
            b"\n",
            b'{"jsonrpc":"2.0","id":1,"result":{}}\n',
            b'{"jsonrpc":"2.0","method":"m"}\n',
            b'{"jsonrpc":"2.0","id":"a","result":{"x":"' + b"z" * 300 + b'"}}\n',
            b"y" * 300,
            b"\xff",
        ]
    ),
    max_size=12,
)


@given(LINES, st.integers(1, 80))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_of_a_program_are_messages_or_noise(
    monkeypatch: pytest.MonkeyPatch, parts: list[bytes], chunk: int
) -> None:
    """However its bytes are cut into pieces; a line that is too long becomes an error."""
    monkeypatch.setattr(stdio_transport, "MAX_MESSAGE_BYTES", 200)
    written = b"".join(parts)

    async def read() -> list[Any]:
        stream = asyncio.StreamReader()
        for start in range(0, len(written), chunk):
            stream.feed_data(written[start : start + chunk])
        stream.feed_eof()
        return [each async for each in stdio_transport._messages(stream)]

    found = asyncio.run(read())

    assert len(found) == written.count(b"\n")
    for line, each in zip(written.split(b"\n"), found, strict=False):
        if line == b'{"jsonrpc":"2.0","id":1,"result":{}}':
            assert not isinstance(each, bytes)
        if len(line) > 200:
            assert isinstance(each, bytes) or each.error.message.startswith("the answer is over")
