"""The scripted model's answers in the roles of agents, decided by the request alone."""

import re
from typing import Any

from tests.durability.chaos.job_shapes import (
    FAILING_TASK,
    LOOKUP_TOOL,
    JobShape,
    PlanPattern,
    first_task_id,
)
from tests.durability.chaos.request_arrivals import job_mark
from tests.support.endpoints.scripted_model import ReceivedRequest
from tests.support.endpoints.scripted_roles import RoleScript, verifier_answer

QUESTION_PREFIX = re.compile(r"\[job (\w+)\] (\S+):")
"""How a question begins, and what an agent is to resolve: whose it is, and of which shape."""
_LAB_TOOLS = {LOOKUP_TOOL: "key", "lab.wikipedia_search": "query"}
"""The tools that agents call, in the order in which they prefer them, with their argument."""
AGAIN = "again"
"""What ends the calls of an agent that works something again, and the values they find."""


def _step(asked: ReceivedRequest) -> object:
    """One call for each task of a single agent, else one; then what the last one found."""
    task = asked.task
    done = [step for step in task["trace"] if step["status"] == "done"]
    shape = _shape_of(task)
    wanted = shape.tasks if shape.pattern is PlanPattern.SINGLE else 1
    if len(done) < wanted and _tool(task):
        return {"calls": [_call(task, len(done) + 1)]}
    value = next(iter(done[-1]["found"].values())) if done else _given(task)
    outputs = [{"name": each["name"], "value": value} for each in task["expects"]]
    return {"outputs": outputs}


def _steps(asked: ReceivedRequest) -> object:
    task = asked.task
    step = _call(task, 1) | {"expects": task["expects"]}
    number = len(task["used_ids"]) + 1
    more = {"id": f"{task['node']}.{number}", "kind": "tool", "description": "look it up"}
    return {"explanation": "one call", "tasks": [step | more]}


def _call(task: dict[str, Any], number: int) -> dict[str, Any]:
    """A call whose words hang on the agent alone, on its step, and on being worked again."""
    found = QUESTION_PREFIX.match(task["specification"])
    assert found, task["specification"]
    words = [job_mark(found.group(1)), found.group(2), task["node"], f"step{number}"]
    key = " ".join([*words, *([AGAIN] if task["hints"] else [])])
    tool = _tool(task)
    return {
        "tool": tool,
        "inputs": [{"name": _LAB_TOOLS[tool], "value": key}],
        "expects": [{"name": "found"}],
    }


def _tool(task: dict[str, Any]) -> str:
    """The lab's tool that the agent may use; empty: it has none."""
    names = {tool.partition("(")[0] for tool in task["tools"]}
    return next((name for name in _LAB_TOOLS if name in names), "")


def _given(task: dict[str, Any]) -> str:
    """What an agent without tools concludes from what others found."""
    return " and ".join(sorted(str(each["value"]) for each in task["given"])) or "nothing"


def _assessment(asked: ReceivedRequest) -> object:
    """Completed with what the last step found; failed where the shape has it fail."""
    task = asked.task
    shape = _shape_of(task)
    if (
        shape.pattern is PlanPattern.TDP
        and first_task_id(task["node"]) == FAILING_TASK
        and shape.fails_at(task["node"])
    ):
        return {"status": "failed", "reason": "it leads nowhere"}
    done = [step for step in task["trace"] if step["status"] == "done"]
    (value,) = done[-1]["found"].values()
    outputs = [{"name": each["name"], "value": value} for each in task["expects"]]
    return {"status": "completed", "outputs": outputs}


def _verification(asked: ReceivedRequest) -> object:
    """T2 is not enough as it was found first."""
    values = [str(each["value"]) for each in asked.task["result"]]
    is_enough = asked.task["id"] != FAILING_TASK or any(AGAIN in value for value in values)
    return verifier_answer(0.9 if is_enough else 0.3)


def _shape_of(task: dict[str, Any]) -> JobShape:
    found = QUESTION_PREFIX.match(task["specification"])
    assert found, task["specification"]
    return JobShape.named(found.group(2))


AGENT_SCRIPTS: dict[str, RoleScript] = {
    "stepper": _step,
    "step_planner": _steps,
    "assessor": _assessment,
    "verifier": _verification,
}
