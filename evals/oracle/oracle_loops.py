"""The oracle's turns in a cited loop: the calls of the gold program, then the answer with quotes.

A loop has no references: what a call takes of another is written out, as the tool gave it. All
calls that are ready are made in one turn, so the messages tell which result belongs to which.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.evals.oracle.gold_programs import GoldProgram, gold_answer_text
from holdfast.evals.oracle.program_calls import MISSPELT
from holdfast.models.loop.loop_functions import ANSWER, MOST_QUERIES, SEARCH, USE

LoopCalls = list[tuple[str, dict[str, Any]]]
Message = Mapping[str, Any]
_LONGEST_QUOTE = 300
"""Characters of a result that are quoted."""


def loop_calls(golds: Mapping[str, GoldProgram], messages: Sequence[Message]) -> LoopCalls:
    """The functions that the oracle calls in this turn, with their arguments.

    Raises:
        LookupError: nobody knows the question, or a right call was refused.
    """
    task = json.loads(messages[1]["content"])
    state = _LoopState(golds[task["question"]], tuple(task.get("tools", ())))
    for results in _turns(messages[2:]):
        state.note(results)
    ready = state.ready()
    return [*state.calls(ready)] if ready else [(ANSWER, state.answer(task.get("expects", ())))]


@dataclass(frozen=True)
class _Shown:
    """A result: its passage's number, and its text."""

    number: int
    text: str

    @property
    def value(self) -> Any:  # noqa: ANN401 - JSON
        try:
            return json.loads(self.text)
        except ValueError:
            return self.text


@dataclass
class _LoopState:
    """What the messages of a loop show of its program."""

    gold: GoldProgram
    tools: Sequence[str]
    done: dict[int, _Shown] = field(default_factory=dict)
    mended: set[int] = field(default_factory=set)
    read: dict[int, str] = field(default_factory=dict)

    def ready(self) -> list[int]:
        """The steps that can be taken now, as many as one turn has room for."""
        open_steps = (at for at in range(len(self.gold.steps)) if at not in self.done)
        able = [at for at in open_steps if all(n in self.done for n in self.gold.steps[at].needs)]
        return able[:MOST_QUERIES]

    def calls(self, steps: Iterable[int]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The calls of these steps; the tool that is offered as `search` takes all queries."""
        queries = []
        for at in steps:
            step = self.gold.steps[at]
            if any(line.startswith(f"{step.tool}(") for line in self.tools):
                yield USE, {"tool": step.tool, "inputs": self._inputs(at)}
            else:
                queries += [str(value) for value in self._inputs(at).values()]
        if queries:
            yield SEARCH, {"queries": queries}

    def _inputs(self, at: int) -> dict[str, Any]:
        step = self.gold.steps[at]
        values: dict[str, Any] = {
            name: self._yielded(number) for name, number in step.takes.items()
        }
        values |= step.values
        if at in self.gold.wrong and at not in self.mended:
            values[step.named] += MISSPELT
        return values

    def _yielded(self, at: int) -> Any:  # noqa: ANN401 - JSON
        value = self.done[at].value
        return value[self.gold.steps[at].yields] if isinstance(value, dict) else value

    def note(self, results: Sequence[Message]) -> None:
        """Take the results of a turn, in the order of its calls."""
        for at, result in zip(self.ready(), results, strict=True):
            shown = self._shown(result)
            if shown is not None:
                self.done[at] = shown
            elif at in self.gold.wrong and at not in self.mended:
                self.mended.add(at)
            else:
                raise LookupError(f"{self.gold.steps[at].tool} was refused: {result}")

    def _shown(self, result: Message) -> _Shown | None:
        for passage in result.get("passages", ()):
            self.read[passage["n"]] = passage["text"]
        numbers = [passage["n"] for passage in result.get("passages", ())]
        numbers += result.get("shown_above", ())
        return _Shown(numbers[0], self.read[numbers[0]]) if numbers else None

    def answer(self, expects: Sequence[Message]) -> dict[str, Any]:
        """The answer: a sentence for each call that holds a part of it."""
        ends = self.gold.ends or range(len(self.gold.steps))
        sentences = [
            {"text": f"The tool gives {self._told(at)}.", "cites": [self._cite(at)]} for at in ends
        ]
        values = [
            {"name": each["name"], "value": self.gold.answer, "confidence": 1.0}
            | {"cites": [self._cite(at) for at in ends]}
            for each in expects
        ]
        promised = {"values": values} if values else {"short": self.gold.answer}
        return {"sentences": sentences, "open": [], **promised}

    def _told(self, at: int) -> str:
        return gold_answer_text(self._yielded(at))

    def _cite(self, at: int) -> dict[str, Any]:
        shown = self.done[at]
        return {"passage": shown.number, "quote": shown.text[:_LONGEST_QUOTE]}


def _turns(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """The results of each turn, in the order of its calls."""
    results: list[Message] = []
    for message in messages:
        if message["role"] == "assistant":
            if results:
                yield results
            results = []
        elif message["role"] == "tool":
            # Below the results there may be words of the user.
            results += json.loads(message["content"].split("\n")[0])
    if results:
        yield results
