"""Put the calls of tasks into words, for those who must not make them once more."""

import json
from collections.abc import Iterable

from holdfast.models.plans.research_plan import Task
from holdfast.models.text.reference_marks import disarm_references
from holdfast.models.text.terminal_text import shorten_text

_MOST_CALLS = 12
_LONGEST = 200


def call_with_arguments(task: Task) -> str:
    """The tool with its arguments, as `corpus.search({"query": "Halm Tower"})`."""
    arguments = {given.name: given.value for given in task.inputs}
    return f"{task.tool}({json.dumps(arguments, ensure_ascii=False)})"


def tried_calls(tasks: Iterable[Task], owner: str) -> tuple[str, ...]:
    """The last calls that a task or its steps made, in all attempts, each once."""
    made = (
        shorten_text(str(disarm_references(call_with_arguments(task))), _LONGEST)
        for task in tasks
        if owner in (task.id, task.parent) and task.tool
    )
    return tuple(dict.fromkeys(made))[-_MOST_CALLS:]
