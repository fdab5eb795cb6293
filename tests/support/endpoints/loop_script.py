"""Play cited loops at the scripted endpoint: searches by turn, then an answer, then the judge.

The loop of a job's own question has its replies by turn. Loops of agent tasks that promise values
have theirs by question; the others answer at once with what was read.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.roles.loop.answer_judge import ANSWER_JUDGE
from holdfast.roles.loop.loop_agent import INSTRUCTIONS
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedReply

_WITHIN_S = 30.0

Call = tuple[str, dict[str, Any]]


def search(*queries: str) -> Call:
    """A call of `search`."""
    return "search", {"queries": list(queries)}


def sentence(text: str, passage: int, quote: str, **more: Any) -> dict[str, Any]:
    """A sentence with one cite."""
    return {"text": text, "cites": [{"passage": passage, "quote": quote}], **more}


def answer(short: str, *sentences: dict[str, Any], **more: Any) -> Call:
    """A call of `answer`."""
    return "answer", {"short": short, "sentences": list(sentences), "open": [], **more}


ACCEPTED = {"not_shown": [], "answer_follows": True, "weakest": 1, "strength": "stated"}


def value(name: str, is_: object, passage: int, quote: str, **more: Any) -> dict[str, Any]:
    """A promised value with one cite."""
    cites = [{"passage": passage, "quote": quote}]
    return {"name": name, "value": is_, "cites": cites, "confidence": 0.9, **more}


def values(*promised: dict[str, Any], **more: Any) -> Call:
    """A call of `answer` of an agent that promises values."""
    return "answer", {"sentences": [], "values": list(promised), "open": [], **more}


Turn = Sequence[Call] | Callable[[ReceivedRequest], Sequence[Call]]
NOT_FOUND = (answer("", open=["what is asked"]),)


def found_at_once(request: ReceivedRequest) -> Sequence[Call]:
    """Each promised value is what the last passage says, or what the task was given."""
    task = request.task
    passages = [(each["n"], text) for each in _read(task) for text in _texts(each)]
    given = " & ".join(str(each["value"]) for each in task.get("given", ()))
    if not passages and not given:
        return [values(open=[f"{each['name']} is not stated" for each in task["expects"]])]
    number, text = passages[-1] if passages else (0, "")
    found = [value(each["name"], text[:60], number, text[:60]) for each in task["expects"]]
    taken = [{"name": each["name"], "value": given, "cites": []} for each in task["expects"]]
    return [values(*(found if passages else taken))]


def _read(task: Mapping[str, Any]) -> list[dict[str, Any]]:
    shown = [each for call in task.get("first_search", ()) for each in call.get("passages", ())]
    return [*task.get("kept", ()), *shown]


def _texts(passage: Mapping[str, Any]) -> list[str]:
    return [passage["text"]] if "text" in passage else list(passage["sentences"])


@dataclass
class LoopScript:
    """Replies to the loop agent by turn, and to the judge by call; the last one is repeated."""

    turns: Sequence[Turn] = ()
    judgements: Sequence[dict[str, Any]] = (ACCEPTED,)
    by_question: dict[str, Sequence[Turn]] = field(default_factory=dict)
    """Replies to agents that promise values, by their question."""
    asked: list[ReceivedRequest] = field(default_factory=list)
    agents_asked: list[ReceivedRequest] = field(default_factory=list)
    """The requests of agents that promise values."""
    judged: list[dict[str, Any]] = field(default_factory=list)
    _turn_by_request: dict[str, int] = field(default_factory=dict)
    delay_s: float = 0.0
    """How long the agent's replies wait, or until the model releases them."""

    def _turn_of(self, request: ReceivedRequest) -> int:
        """The place of the request's turn; the same request, sent again, has the same place.

        Messages are no count of turns: a compaction takes them away.
        """
        said = json.dumps(request.turns)
        return self._turn_by_request.setdefault(said, len(self._turn_by_request))

    def plays(self, request: ReceivedRequest) -> bool:
        """True if the request is one of a cited loop."""
        return request.plays(ANSWER_JUDGE) or request.system.startswith(INSTRUCTIONS)

    def __call__(self, request: ReceivedRequest) -> ScriptedReply:
        if request.plays(ANSWER_JUDGE):
            self.judged.append(request.task)
            at = min(len(self.judged), len(self.judgements)) - 1
            return ScriptedReply.playing(ANSWER_JUDGE, self.judgements[at])
        if "expects" in request.task:
            return self._agent(request)
        self.asked.append(request)
        turns = self.turns or (NOT_FOUND,)
        turn = turns[min(self._turn_of(request), len(turns) - 1)]
        calls = turn(request) if callable(turn) else turn
        return ScriptedReply.calling(*calls, delay=self.delay_s)

    def _agent(self, request: ReceivedRequest) -> ScriptedReply:
        self.agents_asked.append(request)
        turns = self.by_question.get(request.task["question"], (found_at_once,))
        turn = turns[min(_replies(request), len(turns) - 1)]
        calls = turn(request) if callable(turn) else turn
        return ScriptedReply.calling(*calls, delay=self.delay_s)

    def tasks(self, question: str) -> list[dict[str, Any]]:
        """The first messages of the agents with this question, one for each request."""
        tasks = (request.task for request in self.agents_asked)
        return [task for task in tasks if task["question"] == question]

    async def wait_for_turn(self, turn: int) -> None:
        """Return once the agent is asked for its reply of this turn, from 1."""
        async with asyncio.timeout(_WITHIN_S):
            while not any(_replies(each) >= turn - 1 for each in self.asked):
                await asyncio.sleep(0.02)

    async def wait_for_agent_turn(self, turn: int) -> None:
        """Return once an agent that promises values is asked for its reply of this turn."""
        async with asyncio.timeout(_WITHIN_S):
            while not any(_replies(each) >= turn - 1 for each in self.agents_asked):
                await asyncio.sleep(0.02)

    async def wait_for(self, turns: int) -> None:
        """Return once the agent was asked so often."""
        async with asyncio.timeout(_WITHIN_S):
            while len(self.asked) < turns:
                await asyncio.sleep(0.02)


def _replies(request: ReceivedRequest) -> int:
    return sum(turn["role"] == "assistant" for turn in request.turns)


def results(request: ReceivedRequest) -> list[Any]:
    """The results that the last message of a request has, by call."""
    tools = []
    for turn in reversed(request.turns):
        if turn["role"] != "tool":
            break
        tools.append(json.loads(turn["content"].split("\n")[0]))
    if tools:
        return list(reversed(tools))
    return list(json.loads(request.turns[-1]["content"]).get("results", []))
