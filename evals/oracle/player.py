"""The oracle: plays every role rightly, from the gold programs.

Where a fault is injected, one name is at first written wrong, as a model does that does not know
the vocabulary; when the tool has refused it, the oracle writes it as it should be.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evals.oracle import nodes, reports
from evals.oracle.calls import (
    Task,
    call,
    fresh,
    given,
    joined,
    mended_in,
    number,
    planned,
    reference,
    taken,
)
from evals.oracle.composite import CLOSING
from evals.oracle.gold import Gold
from models.plan import FINAL_ANSWER


@dataclass(frozen=True)
class Oracle:
    """The gold programs by their questions."""

    golds: Mapping[str, Gold]

    @classmethod
    def of(cls, golds: Iterable[Gold]) -> "Oracle":
        return cls({each.question: each for gold in golds for each in (gold, *gold.parts)})

    def play(self, role: str, task: Task) -> object:
        """The role's answer to its typed task."""
        if role in nodes.ALWAYS:
            return nodes.ALWAYS[role]
        part = getattr(self, f"_{role}", None)
        if part is None:
            raise LookupError(f"the oracle does not play {role!r}")
        return part(task)

    def _planner(self, task: Task) -> object:
        gold = self.golds[task["question"]]
        if task["agents"]:
            return nodes.graph(gold, concludes=task["concludes"])
        ids = {at: f"T{at + 1}" for at in range(len(gold.steps))}
        calls = planned(gold, ids, (), ())
        return _plan([*calls, _final(gold, ids, f"T{len(gold.steps) + 1}")])

    def _node_planner(self, task: Task) -> object:
        gold = self.golds[task["specification"]]
        ids = {at: f"{task['node']}.{at + 1}" for at in range(len(gold.steps))}
        return _plan(planned(gold, ids, (), ()))

    def _replanner(self, task: Task) -> object:
        """Of the whole plan, or of the steps of one agent, whose ids begin with the agent's."""
        gold = self.golds[task["question"]]
        prefix = "".join(task["failed_task_id"].rpartition(".")[:2]) or "T"
        used = {*task["used_ids"], *(each["task_id"] for each in task["current_plan"])}
        kept = {
            number(each["task_id"]): each["task_id"] for each in task["current_plan"]
            if each["task_id"] not in task["replaced"]
            and each["execution_status"] not in ("superseded", "cancelled")
        }  # fmt: skip
        ids = {
            at: kept.get(at) or fresh(f"{prefix}{at + 1}", used) for at in range(len(gold.steps))
        }
        calls = planned(gold, ids, kept, mended_in(gold, task["current_plan"]))
        if task["expects"]:
            return _plan(calls)
        return _plan([*calls, _final(gold, ids, fresh(f"T{len(gold.steps) + 1}", used))])

    def _stepper(self, task: Task) -> object:
        if task["specification"] == CLOSING:
            value = joined(each["value"] for each in task["given"])
            return {"outputs": [{"name": FINAL_ANSWER, "value": value, "confidence": 1.0}]}
        gold = self.golds[task["specification"]]
        seen = taken(gold, task["trace"])
        if len(seen.done) == len(gold.steps):
            return {"outputs": nodes.outputs(gold, seen, task)}
        if task["must_end"]:
            return {"give_up": task["must_end"]}
        ids = {at: step["id"] for at, step in seen.done.items()}
        ready = [
            at for at, step in enumerate(gold.steps)
            if at not in seen.done and all(each in seen.done for each in step.needs)
        ]  # fmt: skip
        return {"calls": [call(gold, at, ids, seen.mended) for at in ready]}

    def _assessor(self, task: Task) -> object:
        return nodes.assessed(self.golds[task["specification"]], task)

    def _reasoner(self, task: Task) -> object:
        gold = self.golds[task["question"]]
        found = [each["value"] for each in task["inputs"]]
        value = joined(found) if gold.ends else gold.answer
        outputs = [{"name": each["name"], "value": value, "confidence": 1.0}
                   for each in task["outputs"]]  # fmt: skip
        return {"status": "completed", "outputs": outputs, "reasoning_steps": ["as found"]}

    def _condenser(self, task: Task) -> object:
        return reports.condensed(task)

    def _synthesiser(self, task: Task) -> object:
        return reports.written(task)

    def _sentence_checker(self, task: Task) -> object:
        return reports.checked(task)


def _plan(tasks: list[dict[str, Any]]) -> object:
    return {"explanation": "the gold program", "tasks": tasks}


def _final(gold: Gold, ids: Mapping[int, str], task_id: str) -> dict[str, Any]:
    """The deduction that gives the answer from the calls that hold it."""
    sources = gold.ends or range(len(gold.steps))
    inputs = [given(f"from_{ids[at]}", reference(ids[at], gold.steps[at])) for at in sources]
    return {
        "id": task_id, "kind": "reasoning",
        "description": CLOSING if gold.parts else f"Answer: {gold.question}",
        "inputs": inputs, "depends_on": [ids[at] for at in sources],
        "expects": [{"name": FINAL_ANSWER}],
    }  # fmt: skip
