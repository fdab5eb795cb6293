"""How the scripted model plays the roles of agents: by what it is shown, and by nothing else."""

import re
from typing import Any

from tests.durability.chaos.arrivals import mark_of
from tests.durability.chaos.shapes import FAILING, TOOL, Pattern, Shape, base
from tests.support.players import Part, verdict
from tests.support.scripted_model import Asked

QUESTION = re.compile(r"\[job (\w+)\] (\S+):")
"""How a question begins, and what an agent is to resolve: whose it is, and of which shape."""
AGAIN = "again"
"""What ends the calls of an agent that works something again, and the values they find."""


def _step(asked: Asked) -> object:
    """One call for each task of a single agent, else one; then what the last one found."""
    task = asked.task
    done = [step for step in task["trace"] if step["status"] == "done"]
    shape = _shape_of(task)
    wanted = shape.tasks if shape.pattern is Pattern.SINGLE else 1
    if len(done) < wanted:
        return {"calls": [_call(task, len(done) + 1)]}
    (value,) = done[-1]["found"].values()
    outputs = [{"name": each["name"], "value": value} for each in task["expects"]]
    return {"outputs": outputs}


def _steps(asked: Asked) -> object:
    task = asked.task
    step = _call(task, 1) | {"expects": task["expects"]}
    number = len(task["used_ids"]) + 1
    more = {"id": f"{task['node']}.{number}", "kind": "tool", "description": "look it up"}
    return {"explanation": "one call", "tasks": [step | more]}


def _call(task: dict[str, Any], number: int) -> dict[str, Any]:
    """A call whose words hang on the agent alone, on its step, and on being worked again."""
    found = QUESTION.match(task["specification"])
    assert found, task["specification"]
    words = [mark_of(found.group(1)), found.group(2), task["node"], f"step{number}"]
    key = " ".join([*words, *([AGAIN] if task["hints"] else [])])
    return {
        "tool": TOOL,
        "inputs": [{"name": "key", "value": key}],
        "expects": [{"name": "found"}],
    }


def _assessment(asked: Asked) -> object:
    """Completed with what the last step found; failed where the shape has it fail."""
    task = asked.task
    shape = _shape_of(task)
    if (
        shape.pattern is Pattern.TDP
        and base(task["node"]) == FAILING
        and shape.fails_at(task["node"])
    ):
        return {"status": "failed", "reason": "it leads nowhere"}
    done = [step for step in task["trace"] if step["status"] == "done"]
    (value,) = done[-1]["found"].values()
    outputs = [{"name": each["name"], "value": value} for each in task["expects"]]
    return {"status": "completed", "outputs": outputs}


def _verification(asked: Asked) -> object:
    """T2 is not enough as it was found first."""
    values = [str(each["value"]) for each in asked.task["result"]]
    is_enough = asked.task["id"] != FAILING or any(AGAIN in value for value in values)
    return verdict(0.9 if is_enough else 0.3)


def _shape_of(task: dict[str, Any]) -> Shape:
    found = QUESTION.match(task["specification"])
    assert found, task["specification"]
    return Shape.named(found.group(2))


PARTS: dict[str, Part] = {
    "stepper": _step,
    "node_planner": _steps,
    "assessor": _assessment,
    "verifier": _verification,
}
