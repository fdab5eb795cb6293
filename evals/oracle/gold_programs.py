"""Gold programs: the calls that answer a question, and which call takes the value of which other
call."""

import inspect
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from holdfast.evals.kopl.knowledge_base import KnowledgeBase
from holdfast.evals.kopl.kopl_server import tool_functions
from holdfast.evals.kopl.kopl_tools import KoplTools
from holdfast.evals.measures.question_files import EvaluationQuestion

_NAMES = ("name", "relation", "key", "concept_name", "question")
"""Parameters whose values are names: one that is written wrong is answered with the nearest."""


@dataclass(frozen=True)
class GoldStep:
    """One call: its literal arguments, and those that are results of earlier steps."""

    tool: str
    values: Mapping[str, str]
    takes: Mapping[str, int]
    yields: str
    kind: str
    """The JSON type of what it yields."""
    after: tuple[int, ...] = ()
    """Steps that come before it although it takes no value of theirs."""

    @property
    def needs(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((*self.takes.values(), *self.after)))

    @property
    def named(self) -> str:
        """The first of its parameters that takes a name; empty if none does."""
        return next((name for name in _NAMES if name in self.values), "")


@dataclass(frozen=True)
class GoldProgram:
    """A question's calls with its answer."""

    id: str
    question: str
    steps: tuple[GoldStep, ...]
    answer: str
    kind: str
    ends: tuple[int, ...] = ()
    """The steps whose values are the answer, in order; none: it is put together from all."""
    wrong: frozenset[int] = frozenset()
    """The steps whose name is at first written wrong, where failures are injected."""
    parts: tuple["GoldProgram", ...] = ()
    """The questions that this one asks together, where it is a composite."""

    @property
    def asked(self) -> EvaluationQuestion:
        return EvaluationQuestion(self.id, self.question, (self.answer,), self.kind, ())


def kopl_programs(questions: Path, base: Path) -> list[GoldProgram]:
    """The programs of a KoPL file, over the knowledge base."""
    tools = tool_functions(KoplTools(KnowledgeBase.read(base)))
    parameters = {name: list(inspect.signature(each).parameters) for name, each in tools.items()}
    return [_kopl(row, parameters) for row in _rows(questions)]


def _kopl(row: dict[str, Any], parameters: Mapping[str, list[str]]) -> GoldProgram:
    steps = tuple(_kopl_step(each, parameters) for each in row["program"])
    bin_ = f"{row['complexity_bin']} steps"
    ends = (len(steps) - 1,) if steps[-1].yields == "value" else ()
    return GoldProgram(
        row["id"], row["question"], steps, gold_answer_text(row["answer"]), bin_, ends
    )


def _kopl_step(raw: dict[str, Any], parameters: Mapping[str, list[str]]) -> GoldStep:
    name = "QueryName" if raw["function"] == "What" else raw["function"]
    taking = len(raw["dependencies"])
    takes = dict(zip(parameters[name][:taking], raw["dependencies"], strict=True))
    values = dict(zip(parameters[name][taking:], map(str, raw["inputs"]), strict=True))
    yields, kind = _result(name)
    return GoldStep(f"kopl.{name}", values, takes, yields, kind)


def _result(name: str) -> tuple[str, str]:
    if name == "Count":
        return "value", "integer"
    if name.startswith("Verify") or name == "SelectBetween":
        return "value", "string"
    if name.startswith(("Query", "Select")):
        return "value", "array"
    return "entities", "dict"


def fanout_programs(questions: Path, facts: Path) -> list[GoldProgram]:
    """FanOutQA's questions as look-ups of their facts."""
    by_root: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for fact in _rows(facts):
        by_root[fact["root"]].append(fact)
    return [_fanout(row, by_root[row["id"]]) for row in _rows(questions) if by_root[row["id"]]]


def _fanout(row: dict[str, Any], facts: list[dict[str, Any]]) -> GoldProgram:
    # Ids repeat across questions, and a fact may stand before those that it rests on.
    order = {fact["id"]: at for at, fact in enumerate(facts)}
    steps = tuple(
        GoldStep(
            "facts.lookup",
            {"question": fact["question"]},
            {},
            "answer",
            "string",
            tuple(order[each] for each in fact["depends_on"] if each in order),
        )
        for fact in facts
    )
    bin_ = f"{len(steps)} facts" if len(steps) < 10 else "10+ facts"
    return GoldProgram(row["id"], row["question"], steps, gold_answer_text(row["answer"]), bin_)


def with_faults(golds: Iterable[GoldProgram], every: int) -> list[GoldProgram]:
    """The same with a name written wrong in every so many-th question; 0: in none."""
    return [
        _with_fault(gold, at) if every and at % every == 0 else gold
        for at, gold in enumerate(golds)
    ]


def _with_fault(gold: GoldProgram, at: int) -> GoldProgram:
    able = [number for number, step in enumerate(gold.steps) if step.named]
    return replace(gold, wrong=frozenset({able[at % len(able)]} if able else ()))


def gold_answer_text(value: object) -> str:
    """An answer in one line; what has no order is sorted, and of nothing it says so."""
    if isinstance(value, dict):
        return "; ".join(f"{name}: {gold_answer_text(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(sorted({gold_answer_text(each) for each in value})) or "none"
    return str(value)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]
