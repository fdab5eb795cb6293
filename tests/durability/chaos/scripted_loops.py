"""The scripted answers of a cited loop's agent and judge, decided by the request alone."""

import json
import re

from tests.durability.chaos.job_shapes import JobShape
from tests.durability.chaos.request_arrivals import job_mark
from tests.durability.chaos.scripted_agents import QUESTION_PREFIX
from tests.support.endpoints.loop_script import ACCEPTED, Call, answer, search, sentence
from tests.support.endpoints.scripted_model import ReceivedRequest

_PASSAGE = re.compile(r'"n":\s*(\d+)\D[^{}]*?(The value is \w+\.)')
_BOTH_AT_TURN = 2
"""The turn that searches for two things side by side."""


def loop_turn(asked: ReceivedRequest) -> Call:
    """One search for each task of the shape, then an answer with what the last one found."""
    found = QUESTION_PREFIX.match(asked.task["question"])
    assert found, asked.task["question"]
    job, shape = found.group(1), JobShape.named(found.group(2))
    turn = 1 + sum(each["role"] == "assistant" for each in asked.turns)
    if turn <= shape.tasks:
        which = ("a", "b") if turn == _BOTH_AT_TURN else ("a",)
        return search(*(f"{job_mark(job)} {shape.name} turn{turn}{each}" for each in which))
    number, quote = _PASSAGE.findall(json.dumps(_last_results(asked)))[-1]
    return answer(quote, sentence(quote, int(number), quote))


def judgement(_: ReceivedRequest) -> object:
    return ACCEPTED


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
