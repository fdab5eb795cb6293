"""Show a job in the Temporal UI: the plan as a Markdown table, and the search attributes."""

from functools import lru_cache

from temporalio.common import SearchAttributeKey

from holdfast.models.jobs.job_state import JobState, TaskState
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.wire.search_attributes import SearchAttribute
from holdfast.planning.plans.task_display_order import in_display_order
from holdfast.planning.scheduler.current_stage import current_stage

STATUS_ATTRIBUTE = SearchAttributeKey.for_keyword(SearchAttribute.STATUS.value)
PRESET_ATTRIBUTE = SearchAttributeKey.for_keyword(SearchAttribute.PRESET.value)
OWNER_ATTRIBUTE = SearchAttributeKey.for_keyword(SearchAttribute.OWNER.value)
QUESTION_ATTRIBUTE = SearchAttributeKey.for_text(SearchAttribute.QUESTION.value)
REPLANS_ATTRIBUTE = SearchAttributeKey.for_int(SearchAttribute.REPLANS.value)
TOKENS_ATTRIBUTE = SearchAttributeKey.for_int(SearchAttribute.TOKENS.value)

_MAX_ROWS = 80
_SIGNS = {
    TaskStatus.DONE: "✓",
    TaskStatus.RUNNING: "▶",
    TaskStatus.FAILED: "✗",
    TaskStatus.SUPERSEDED: "↷",
    TaskStatus.CANCELLED: "–",
    TaskStatus.PENDING: "·",
}


def plan_table(state: JobState) -> str:
    """Return the plan as a Markdown table; a long plan shows its unfinished tasks first."""
    tasks = in_display_order(state.tasks.values())
    if len(tasks) > _MAX_ROWS:
        tasks = sorted(tasks, key=lambda task: task.status is TaskStatus.DONE)[:_MAX_ROWS]
    done = state.count(TaskStatus.DONE)
    live = len(state.tasks) - state.count(TaskStatus.SUPERSEDED)
    stage = current_stage(state)
    head = f"**{done} of {live} tasks done**, {state.total_replans} replans, stage: {stage}\n\n"
    lines = ["| | task | description | depends on | result |", "|---|---|---|---|---|"]
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


# The table is built again after every action, from nearly the same texts.
@lru_cache(maxsize=4096)
def _cell(text: str) -> str:
    """Return the text with Markdown escaped: tool output must not change the page."""
    short = shorten_text(text, 120)
    for sign in "\\|<>[]`*_":
        short = short.replace(sign, f"\\{sign}" if sign in "\\|[]`*_" else " ")
    return short.replace("\n", " ")
