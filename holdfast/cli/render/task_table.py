"""Format the tasks of a job as a table."""

from rich.text import Text

from holdfast.cli.render.plain_table import STATUS_STYLES, PlainTable, plain_table
from holdfast.cli.render.terminal_output import printable, shortened_line
from holdfast.models.plans.research_plan import FINDINGS_ENTITY, OPENING_FINDINGS
from holdfast.models.text.value_text import value_as_text
from holdfast.models.views.job_views import JobView, TaskView
from holdfast.planning.plans.task_display_order import in_display_order

_ACCOUNTS = frozenset({FINDINGS_ENTITY.name, OPENING_FINDINGS.name})


def task_table(view: JobView) -> PlainTable:
    """Each task with its status, findings, confidence, seconds and tokens."""
    rows = [_row(task) for task in in_display_order(view.tasks)]
    return plain_table(("task", "status", "what", "found", "conf.", "seconds", "tokens"), rows)


def _row(task: TaskView) -> tuple[object, ...]:
    return (
        f"  {task.id}" if task.parent else task.id,
        Text(task.status, style=STATUS_STYLES.get(task.status, "")),
        shortened_line(task.description, 60),
        shortened_line(task_outcome(task), 60),
        "" if task.confidence is None else f"{task.confidence:.2f}",
        "" if task.seconds is None else f"{task.seconds:.1f}",
        task.tokens or "",
    )


def task_outcome(task: TaskView) -> str:
    """The entities that the task found, or the message of its failure."""
    if task.entities:
        return "; ".join(_entity_text(name, value) for name, value in task.entities.items())
    if task.failure:
        return str(task.failure.get("message", ""))
    return ""


def _entity_text(name: str, value: object) -> str:
    """The value with its name; an account alone, whose name is a word of the engine."""
    return _value(value) if name in _ACCOUNTS else f"{name} = {_value(value)}"


def _value(value: object) -> str:
    return printable(value_as_text(value))
