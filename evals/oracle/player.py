"""The oracle: plays planner, replanner, stepper and reasoner rightly, from the gold programs.

Where a fault is injected, one name is at first written wrong, as a model does that does not know
the vocabulary; when the tool has refused it, the oracle writes it as it should be.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from evals.oracle.gold import Gold, GoldStep, as_text
from models.plan import FINAL_ANSWER

Task: TypeAlias = Mapping[str, Any]
_MISSPELT = " (sic)"


@dataclass(frozen=True)
class Oracle:
    """The gold programs by their questions."""

    golds: Mapping[str, Gold]

    @classmethod
    def of(cls, golds: Iterable[Gold]) -> "Oracle":
        return cls({gold.question: gold for gold in golds})

    def play(self, role: str, task: Task) -> object:
        """The role's answer to its typed task."""
        part = getattr(self, f"_{role}", None)
        if part is None:
            raise LookupError(f"the oracle does not play {role!r}")
        return part(task)

    def _planner(self, task: Task) -> object:
        gold = self.golds[task["question"]]
        ids = {at: f"T{at + 1}" for at in range(len(gold.steps))}
        return _planned(gold, ids, set(), f"T{len(gold.steps) + 1}", is_first=True)

    def _replanner(self, task: Task) -> object:
        gold = self.golds[task["question"]]
        used = {*task["used_ids"], *(each["task_id"] for each in task["current_plan"])}
        done = {
            _number(each["task_id"]): each["task_id"]
            for each in task["current_plan"]
            if each["execution_status"] == "done" and each["task_id"] not in task["replaced"]
        }
        ids = {at: done.get(at) or _fresh(f"T{at + 1}", used) for at in range(len(gold.steps))}
        last = _fresh(f"T{len(gold.steps) + 1}", used)
        return _planned(gold, ids, set(done), last, is_first=False)

    def _stepper(self, task: Task) -> object:
        gold = self.golds[task["specification"]]
        done = _matched(gold, task["trace"])
        if len(done) == len(gold.steps):
            last = done[len(gold.steps) - 1]["found"]
            value = as_text(next(iter(last.values()))) if _is_value(gold) else gold.answer
            return {"outputs": [{"name": FINAL_ANSWER, "value": value, "confidence": 1.0}]}
        if task["must_end"]:
            return {"give_up": task["must_end"]}
        has_failed = any(step["status"] == "failed" for step in task["trace"])
        ready = [
            at for at, step in enumerate(gold.steps)
            if at not in done and all(each in done for each in step.needs)
        ]  # fmt: skip
        ids = {at: step["id"] for at, step in done.items()}
        return {"calls": [_call(gold, at, ids, is_first=not has_failed) for at in ready]}

    def _reasoner(self, task: Task) -> object:
        gold = self.golds[task["question"]]
        given = [each["value"] for each in task["inputs"]]
        value = as_text(given[-1]) if _is_value(gold) else gold.answer
        outputs = [{"name": each["name"], "value": value, "confidence": 1.0}
                   for each in task["outputs"]]  # fmt: skip
        return {"status": "completed", "outputs": outputs, "reasoning_steps": ["as found"]}

    def _synthesiser(self, task: Task) -> object:
        ids = [item["id"] for item in task["evidence"]][:3]
        told = {"text": str(task["answer"] or "No answer was found."), "evidence": ids}
        return {"answer": [told], "findings": [told] if ids else [], "gaps": list(task["gaps"])}


def _is_value(gold: Gold) -> bool:
    """Whether the last call gives the answer itself; else it is put together from all calls."""
    return gold.steps[-1].yields == "value"


def _planned(
    gold: Gold, ids: Mapping[int, str], done: set[int], last: str, *, is_first: bool
) -> object:
    tasks = [
        {
            "id": ids[at], "kind": "tool", "depends_on": [ids[each] for each in step.needs],
            **_call(gold, at, ids, is_first=is_first),
        }
        for at, step in enumerate(gold.steps) if at not in done
    ]  # fmt: skip
    sources = [len(gold.steps) - 1] if _is_value(gold) else list(range(len(gold.steps)))
    inputs = [_input(f"from_{ids[at]}", _reference(ids[at], gold.steps[at])) for at in sources]
    final = {
        "id": last, "kind": "reasoning", "description": f"Answer: {gold.question}",
        "inputs": inputs, "depends_on": [ids[at] for at in sources],
        "expects": [{"name": FINAL_ANSWER}],
    }  # fmt: skip
    return {"explanation": "the gold program", "tasks": [*tasks, final]}


def _call(gold: Gold, at: int, ids: Mapping[int, str], *, is_first: bool) -> dict[str, Any]:
    step = gold.steps[at]
    values = dict(step.values)
    if is_first and gold.wrong == at:
        values[step.named] += _MISSPELT
    inputs = [_input(name, _reference(ids[n], gold.steps[n])) for name, n in step.takes.items()]
    inputs += [_input(name, value) for name, value in values.items()]
    return {
        "tool": step.tool, "description": f"{step.tool} {' '.join(values.values())}".strip(),
        "inputs": inputs, "expects": [{"name": step.yields, "type": step.kind}],
    }  # fmt: skip


def _input(name: str, value: str) -> dict[str, Any]:
    return {"name": name, "value": value}


def _reference(task_id: str, step: GoldStep) -> str:
    return f"<JSON_PATH>{task_id}.{step.yields}</JSON_PATH>"


def _matched(gold: Gold, trace: Sequence[Task]) -> dict[int, Task]:
    """Which finished step of the trace made which call of the program."""
    found: dict[int, Task] = {}
    for taken in trace:
        at = next((at for at in range(len(gold.steps)) if _made(gold, at, taken, found)), None)
        if taken["status"] == "done" and at is not None:
            found[at] = taken
    return found


def _made(gold: Gold, at: int, taken: Task, found: Mapping[int, Task]) -> bool:
    """Whether the step made this call: its tool, with its arguments."""
    step = gold.steps[at]
    if at in found or any(each not in found for each in step.needs):
        return False
    ids = {each: found[each]["id"] for each in step.needs}
    call = _call(gold, at, ids, is_first=False)
    arguments = {each["name"]: each["value"] for each in call["inputs"]}
    tool, _, said = taken["action"].partition("(")
    return bool(tool == step.tool and json.loads(said.removesuffix(")")) == arguments)


def _number(task_id: str) -> int:
    return int("".join(sign for sign in task_id if sign.isdigit())) - 1


def _fresh(base: str, used: set[str]) -> str:
    ends = ("", *"abcdefghijklmnopqrstuvwxyz")
    return next(f"{base}{end}" for end in ends if f"{base}{end}" not in used)
