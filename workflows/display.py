"""What a person sees of a job in the Temporal UI: the plan as a table, and search attributes."""

from functools import lru_cache

from temporalio.common import SearchAttributeKey

from models.plan import TaskStatus
from models.state import JobState, TaskState
from models.text import shortened
from planning.nesting import nested

STATUS = SearchAttributeKey.for_keyword("HoldfastStatus")
PRESET = SearchAttributeKey.for_keyword("HoldfastPreset")
OWNER = SearchAttributeKey.for_keyword("HoldfastOwner")
REPLANS = SearchAttributeKey.for_int("HoldfastReplans")
TOKENS = SearchAttributeKey.for_int("HoldfastTokens")

_MOST_ROWS = 80
_SIGNS = {
    TaskStatus.DONE: "✓",
    TaskStatus.RUNNING: "▶",
    TaskStatus.FAILED: "✗",
    TaskStatus.SUPERSEDED: "↷",
    TaskStatus.CANCELLED: "–",
    TaskStatus.PENDING: "·",
}


def plan_table(state: JobState) -> str:
    """The plan as a Markdown table; of a long plan the tasks that are not finished come first."""
    tasks = nested(state.tasks.values())
    if len(tasks) > _MOST_ROWS:
        tasks = sorted(tasks, key=lambda task: task.status is TaskStatus.DONE)[:_MOST_ROWS]
    done = state.count(TaskStatus.DONE)
    head = f"**{done} of {len(state.tasks)} tasks done**, {state.total_replans} replans\n\n"
    lines = ["| | task | what | waits for | came to |", "|---|---|---|---|---|"]
    lines += [_row(task) for task in tasks]
    left_out = len(state.tasks) - len(tasks)
    if left_out:
        lines.append(f"| | … | {left_out} more | | |")
    return head + "\n".join(lines)


def _row(task: TaskState) -> str:
    cells = (
        f"{_SIGNS[task.status]} {task.status.value}",
        task.id,
        _cell(task.label),
        ", ".join(task.depends_on),
        _cell(task.note),
    )
    return f"| {' | '.join(cells)} |"


# The table is made anew at every step of a job, from nearly the same texts.
@lru_cache(maxsize=4096)
def _cell(text: str) -> str:
    """Text that cannot leave its cell: what tools return must not shape the page."""
    short = shortened(text, 120)
    for sign in "\\|<>[]`*_":
        short = short.replace(sign, f"\\{sign}" if sign in "\\|[]`*_" else " ")
    return short.replace("\n", " ")
