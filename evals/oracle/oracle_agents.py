"""The oracle's answers in the roles of agents: the plan of agent tasks, their assessment and their
results.

What it says is as short as a careful model's: the words cost tokens, and they are counted.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.evals.oracle.gold_programs import GoldProgram
from holdfast.evals.oracle.joined_questions import CLOSING_INSTRUCTION
from holdfast.evals.oracle.program_calls import (
    ProgramProgress,
    RoleTask,
    expected_entry,
    joined_answer,
    program_progress,
    step_reference,
)
from holdfast.models.plans.research_plan import FINAL_ANSWER
from holdfast.models.strategies.job_strategy import GENERALIST

FIXED_ANSWERS: Mapping[str, object] = {
    "objectives": {
        "objectives": [
            "The entities that the question is about are found.",
            "The value that the question asks for is read from them.",
        ]
    },
    "repairer": {
        "objectives": [
            "The name is written as the tool knows it.",
            "The value that the question asks for is read from the entities found.",
        ]
    },
    "reviser": {"refine": [], "add": [], "remove": []},
}
"""Roles whose right answer is always the same, as the parts need nothing of each other."""


def accepted_results(task: Mapping[str, Any]) -> object:
    """The verifier's answer: every result is complete."""
    accepted = {
        "status": "complete",
        "completeness": 1.0,
        "confidence": 1.0,
        "missing": [],
        "contradictions": [],
        "recommendation": "accept",
    }
    return {"verdicts": [{"id": each["id"], **accepted} for each in task["results"]]}


def agent_plan(gold: GoldProgram, *, concludes: bool) -> object:
    """A sub-question for each part, none of which needs another; then one that concludes."""
    parts = gold.parts or (gold,)
    nodes = [_node(f"T{n}", part) for n, part in enumerate(parts, start=1)]
    if concludes:
        nodes.append(
            {
                "id": f"T{len(nodes) + 1}",
                "description": CLOSING_INSTRUCTION,
                "agent": GENERALIST,
                "depends_on": [each["id"] for each in nodes],
                "expects": [{"name": FINAL_ANSWER}],
            }
        )
    return {"explanation": "a sub-question for each part", "tasks": nodes}


def _node(task_id: str, part: GoldProgram) -> dict[str, Any]:
    (end,) = part.ends
    return {
        "id": task_id,
        "description": part.question,
        "agent": GENERALIST,
        "depends_on": [],
        "expects": [expected_entry(part.steps[end])],
    }


def agent_outputs(gold: GoldProgram, seen: ProgramProgress, task: RoleTask) -> list[dict[str, Any]]:
    """What an agent promised, once all its calls are made: the answer in words, or a reference."""
    (wanted,) = task["expects"]
    if wanted["name"] != FINAL_ANSWER and len(gold.ends) == 1:
        (end,) = gold.ends
        value = step_reference(seen.done[end]["id"], gold.steps[end])
    elif gold.ends:
        value = joined_answer(seen.done[end]["found"][gold.steps[end].yields] for end in gold.ends)
    else:
        value = gold.answer
    return [{"name": wanted["name"], "value": value, "confidence": 1.0}]


def may_call(gold: GoldProgram, task: RoleTask) -> bool:
    """Whether the agent has the tools of the program; the fixed agents of a pipeline may not."""
    server, _, _ = gold.steps[0].tool.partition(".")
    if "tools" not in task:
        return True
    names: Sequence[str] = task["tools"]
    return any(name.startswith(f"{server}.") for name in names)


def nothing_found(task: RoleTask) -> object:
    """What an agent without these tools hands on: what it was given."""
    said = [each["value"] for each in task["given"]]
    value = joined_answer(said) if said else "nothing"
    return {
        "outputs": [
            {"name": each["name"], "value": value, "confidence": 1.0} for each in task["expects"]
        ]
    }


def agent_assessment(gold: GoldProgram, task: RoleTask) -> object:
    """The verdict on an agent: completed once all calls are made; a refused name is a deviation."""
    seen = program_progress(gold, task["trace"])
    if len(seen.done) == len(gold.steps):
        return {"status": "completed", "outputs": agent_outputs(gold, seen, task)}
    if seen.mended - seen.done.keys():
        return {
            "status": "needs_more_steps",
            "guidance": "Write the name as the tool knows it.",
            "deviation": "The tool does not know a name that was given to it.",
        }
    return {"status": "needs_more_steps", "guidance": "Go on from what was found."}
