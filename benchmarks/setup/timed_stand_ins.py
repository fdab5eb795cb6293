"""A model that answers without delay in every role, and a tool that answers after a set delay."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

from benchmarks.setup.job_graphs import JobGraph, plan_draft
from holdfast.models.calls.call_progress import CallProgress
from holdfast.models.calls.model_requests import Completion, ModelRequest
from holdfast.models.jobs.job_record import JobRequest
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.tools.mcp.tool_server import BuiltinServer

TIMED_TOOL = "timed.look_up"
TIMED_MODEL = "timed"
_PADDING = "Nothing else that is said here matters to the value of the task. " * 30


@dataclass
class TimedModel:
    """Plays every role without thinking; the question of a job is the name of its graph."""

    graphs: dict[str, JobGraph] = field(default_factory=dict)
    tool: str = TIMED_TOOL
    edition: str = ""
    """Ends every value; with another edition, calls find other values than before."""

    async def complete(
        self,
        request: ModelRequest,
        progress: CallProgress | None = None,  # noqa: ARG002 - a `Model`
    ) -> Completion:
        answer = self.answer(request.role, json.loads(request.messages[1].content))
        return Completion(
            text=json.dumps(answer), model=TIMED_MODEL, input_tokens=700, output_tokens=60
        )

    def answer(self, role: str, task: dict[str, Any]) -> dict[str, Any]:
        """What the role answers to its typed task."""
        answer: dict[str, Any] = getattr(self, f"_{role}")(task)
        return answer

    def _planner(self, task: dict[str, Any]) -> dict[str, Any]:
        return plan_draft(self.graphs[task["question"]], self.tool)

    def _extractor(self, task: dict[str, Any]) -> dict[str, Any]:
        value = _value(task["arguments"]["query"]) + self.edition
        found = {"name": "value", "value": value, "confidence": 1.0, "quote": _sentence(value)}
        return {"entities": [found], "confidence": 1.0, "summary": "stated"}

    def _reasoner(self, task: dict[str, Any]) -> dict[str, Any]:
        outputs = [{"name": each["name"], "value": "known"} for each in task["outputs"]]
        return {"status": "completed", "outputs": outputs, "reasoning_steps": ["it is known"]}

    def _synthesiser(self, task: dict[str, Any]) -> dict[str, Any]:
        return {"summary": _quoting(task["evidence"])}

    def _condenser(self, task: dict[str, Any]) -> dict[str, Any]:
        return {"statements": _quoting(task["evidence"])}

    def _sentence_checker(self, task: dict[str, Any]) -> dict[str, Any]:
        verdicts = [{"id": each["id"], "verdict": "supported"} for each in task["sentences"]]
        return {"verdicts": verdicts}


def _quoting(evidence: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first quote as a sentence: nothing is left for a model to check, so calls stay few."""
    quoted = [{"text": item["quote"], "evidence": [item["id"]]} for item in evidence[:1]]
    return quoted or [{"text": "It is known.", "evidence": []}]


def timed_tool_server(latency_s: Callable[[], float]) -> BuiltinServer:
    """The tool `look_up(query)`; its latency is asked for at each call."""
    server = MCPServer("timed")
    calls = count(1)

    @server.tool(
        annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True),
        structured_output=False,
    )
    async def look_up(query: str) -> str:
        """Look a value up."""
        await asyncio.sleep(latency_s())
        return value_page(query.partition(" ")[0], next(calls))

    return BuiltinServer(server, concurrency=200)


def value_page(name: str, number: int) -> str:
    """2 KB that hold the value of `name`; no two are the same, so that each is stored."""
    return f"{_sentence(_value(name))} Answer {number}. {_PADDING}"


def _value(query: str) -> str:
    return f"v-{query.partition(' ')[0]}"


def _sentence(value: str) -> str:
    return f"The value is {value}."


def graph_request(graph: JobGraph) -> JobRequest:
    """A request whose question names the graph, with limits that it does not reach."""
    changes: dict[str, Any] = {
        "slots": graph.slots,
        "max_tool_calls": 10_000,
        "max_replans_per_task": 0,
    }
    strategy = with_settings(preset("kpi-chain").strategy, changes)
    return JobRequest(question=graph.name, preset="kpi-chain", model=TIMED_MODEL, strategy=strategy)
