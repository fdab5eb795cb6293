"""The oracle's parts about agents: their graph, their supervision, and what comes of them.

What it says is as short as a careful model's: the words cost tokens, and they are counted.
"""

from collections.abc import Mapping
from typing import Any

from evals.oracle.calls import Taken, Task, joined, promised, reference, taken
from evals.oracle.composite import CLOSING
from evals.oracle.gold import Gold
from models.plan import FINAL_ANSWER
from models.strategy import GENERALIST

ALWAYS: Mapping[str, object] = {
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
    "verifier": {
        "status": "complete", "completeness": 1.0, "confidence": 1.0, "missing": [],
        "contradictions": [], "recommendation": "accept",
    },
}  # fmt: skip
"""Roles whose right answer is always the same, as the parts need nothing of each other."""


def graph(gold: Gold, *, concludes: bool) -> object:
    """A sub-question for each part, none of which needs another; then one that concludes."""
    parts = gold.parts or (gold,)
    nodes = [_node(f"T{n}", part) for n, part in enumerate(parts, start=1)]
    if concludes:
        nodes.append(
            {
                "id": f"T{len(nodes) + 1}", "description": CLOSING, "agent": GENERALIST,
                "depends_on": [each["id"] for each in nodes], "expects": [{"name": FINAL_ANSWER}],
            }
        )  # fmt: skip
    return {"explanation": "a sub-question for each part", "tasks": nodes}


def _node(task_id: str, part: Gold) -> dict[str, Any]:
    (end,) = part.ends
    return {
        "id": task_id, "description": part.question, "agent": GENERALIST,
        "depends_on": [], "expects": [promised(part.steps[end])],
    }  # fmt: skip


def outputs(gold: Gold, seen: Taken, task: Task) -> list[dict[str, Any]]:
    """What an agent promised, once all its calls are made: the answer in words, or a reference."""
    (wanted,) = task["expects"]
    if wanted["name"] != FINAL_ANSWER:
        (end,) = gold.ends
        value = reference(seen.done[end]["id"], gold.steps[end])
    elif gold.ends:
        value = joined(seen.done[end]["found"][gold.steps[end].yields] for end in gold.ends)
    else:
        value = gold.answer
    return [{"name": wanted["name"], "value": value, "confidence": 1.0}]


def assessed(gold: Gold, task: Task) -> object:
    """The verdict on an agent: completed once all calls are made; a refused name is a deviation."""
    seen = taken(gold, task["trace"])
    if len(seen.done) == len(gold.steps):
        return {"status": "completed", "outputs": outputs(gold, seen, task)}
    if seen.mended - seen.done.keys():
        return {
            "status": "needs_more_steps", "guidance": "Write the name as the tool knows it.",
            "deviation": "The tool does not know a name that was given to it.",
        }  # fmt: skip
    return {"status": "needs_more_steps", "guidance": "Go on from what was found."}
