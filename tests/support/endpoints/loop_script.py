"""Play a cited loop at the scripted endpoint: searches by turn, then an answer, then the judge."""

import asyncio
import json
from collections.abc import Callable, Sequence
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


Turn = Sequence[Call] | Callable[[ReceivedRequest], Sequence[Call]]
NOT_FOUND = (answer("", open=["what is asked"]),)


@dataclass
class LoopScript:
    """Replies to the loop agent by turn, and to the judge by call; the last one is repeated."""

    turns: Sequence[Turn] = ()
    judgements: Sequence[dict[str, Any]] = (ACCEPTED,)
    asked: list[ReceivedRequest] = field(default_factory=list)
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
            return ScriptedReply.of(self.judgements[at])
        self.asked.append(request)
        turns = self.turns or (NOT_FOUND,)
        turn = turns[min(self._turn_of(request), len(turns) - 1)]
        calls = turn(request) if callable(turn) else turn
        return ScriptedReply.calling(*calls, delay=self.delay_s)

    async def wait_for_turn(self, turn: int) -> None:
        """Return once the agent is asked for its reply of this turn, from 1."""
        async with asyncio.timeout(_WITHIN_S):
            while not any(_replies(each) >= turn - 1 for each in self.asked):
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
