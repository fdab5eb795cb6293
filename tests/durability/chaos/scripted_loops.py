"""The scripted answers of a cited loop's agent and judge, decided by the request alone."""

import json
import re
from typing import Any

from tests.durability.chaos.job_shapes import JobShape, PlanPattern
from tests.durability.chaos.request_arrivals import job_mark
from tests.durability.chaos.scripted_agents import AGAIN, QUESTION_PREFIX
from tests.support.endpoints.loop_script import ACCEPTED, Call, answer, search, sentence
from tests.support.endpoints.scripted_model import ReceivedRequest
from tests.support.endpoints.scripted_roles import GAP_HINT

_PASSAGE = re.compile(r'"n":\s*(\d+)\D[^{}]*?(The value is \w+\.)')
_AGENT_TASK = re.compile(r"\b(T\d+[a-c]?)\?")
_BOTH_AT_TURN = 2
"""The turn that searches for two things side by side."""
_SPLITS_AT_TASKS = 3
"""A loop that hands over so many tasks names them at once; one with fewer searches first."""


def loop_turn(asked: ReceivedRequest) -> Call:
    """What the agent of this loop calls next: the whole question's, or that of one task."""
    found = QUESTION_PREFIX.match(asked.task["question"])
    assert found, asked.task["question"]
    job, shape = found.group(1), JobShape.named(found.group(2))
    agent = _AGENT_TASK.search(asked.task["question"])
    place = f"{job_mark(job)} {shape.name}"
    if agent:
        return _agent_turn(asked, f"{place} {agent.group(1)}")
    return _opening_turn(asked, shape, place)


def _opening_turn(asked: ReceivedRequest, shape: JobShape, place: str) -> Call:
    """One search for each task of the shape, then an answer with what the last one found.

    Of a shape that is planned after the loop, the answer stays open or the first reply splits.
    """
    hands_over = shape.pattern is PlanPattern.RESEARCH
    if hands_over and shape.tasks >= _SPLITS_AT_TASKS:
        parts = [f"{place}: part {n}" for n in range(1, shape.tasks + 1)]
        return "split", {"sub_questions": parts}
    turn = _turn(asked)
    if turn <= shape.tasks:
        which = ("a", "b") if turn == _BOTH_AT_TURN else ("a",)
        return search(*(f"{place} turn{turn}{each}" for each in which))
    number, quote = _last_passage(asked)
    proven = sentence(quote, number, quote)
    return answer("", proven, open=["the rest"]) if hands_over else answer(quote, proven)


def _agent_turn(asked: ReceivedRequest, place: str) -> Call:
    """One search, then the promised values with what it found; in other words the second time."""
    if _turn(asked) == 1:
        is_again = GAP_HINT in json.dumps(asked.task)
        return search(f"{place} turn1{f' {AGAIN}' if is_again else ''}")
    number, quote = _last_passage(asked)
    value = quote.removeprefix("The value is ").removesuffix(".")
    cites = sentence(quote, number, quote)["cites"]
    values: list[dict[str, Any]] = [
        {"name": each["name"], "value": value, "cites": cites, "confidence": 0.9}
        for each in asked.task["expects"]
    ]
    return answer(value, sentence(quote, number, quote), values=values)


def judgement(_: ReceivedRequest) -> object:
    return ACCEPTED


def _turn(asked: ReceivedRequest) -> int:
    return 1 + sum(each["role"] == "assistant" for each in asked.turns)


def _last_passage(asked: ReceivedRequest) -> tuple[int, str]:
    """The number of the newest passage that states a value, and its words."""
    number, quote = _PASSAGE.findall(json.dumps(_last_results(asked)))[-1]
    return int(number), quote


def _last_results(asked: ReceivedRequest) -> list[object]:
    """The messages after the agent's last reply: their form hangs on the endpoint."""
    turns = asked.turns
    last = max(n for n, each in enumerate(turns) if each["role"] == "assistant")
    return [_parsed(each["content"]) for each in turns[last + 1 :]]


def _parsed(content: str) -> object:
    try:
        return json.loads(content.split("\n")[0])
    except ValueError:
        return content
