"""Format a plan as a table, and the changes of a plan as lines of text."""

import json
from collections.abc import Iterable, Iterator, Mapping

from holdfast.cli.render.plain_table import PlainTable, plain_table
from holdfast.cli.render.terminal_output import shortened_line
from holdfast.models.plans.research_plan import Plan, Task
from holdfast.models.plans.stored_plan_change import StoredPlanChange
from holdfast.planning.plans.task_display_order import in_display_order

_MAX_VALUE = 120


def plan_table(plan: Plan) -> PlainTable:
    """Each task of the plan with its kind, status, dependencies and description."""
    columns = ("task", "kind", "status", "waits for", "description")
    rows = [
        (
            f"  {task.id}" if task.parent else task.id,
            _performer(task),
            task.status.value,
            ", ".join(task.depends_on),
            shortened_line(task.description, 90),
        )
        for task in in_display_order(plan.tasks)
    ]
    return plain_table(columns, rows)


def plan_change_lines(
    plan: Plan, roots: Mapping[str, str], changes: Iterable[StoredPlanChange]
) -> Iterator[str]:
    """Every change of the plan: its cause, its tasks, and what is different in them.

    `roots` names the first task of each task's lineage.
    """
    for change in changes:
        yield f"plan change {change.number}: {_cause(change)} ({_size(change)})"
        if change.explanation:
            yield f"  why: {shortened_line(change.explanation, 200)}"
        superseded = {roots.get(name, name): plan.by_id[name] for name in change.superseded}
        yield from (f"  - {_task_text(plan.by_id[name])}" for name in change.superseded)
        for name in change.added:
            yield f"  + {_task_text(plan.by_id[name])}"
            earlier = superseded.get(roots.get(name, name))
            if earlier is not None:
                yield from _difference_lines(earlier, plan.by_id[name])
        for edit in change.changed:
            yield f"  ~ {edit.task} {edit.field}: {shortened_line(str(edit.new), _MAX_VALUE)}"


def _cause(change: StoredPlanChange) -> str:
    if change.failed_task and not (change.added or change.superseded):
        return f"{change.failed_task} given up"
    if change.failed_task:
        return f"replanned from {change.failed_task}"
    return f"{change.scope} {change.cause}" if change.scope else change.cause


def _size(change: StoredPlanChange) -> str:
    return f"depth {change.depth}, breadth {change.breadth:g}"


def _task_text(task: Task) -> str:
    return f"{task.id} [{_performer(task)}] {shortened_line(task.description, 100)}"


def _performer(task: Task) -> str:
    """The tool or the agent that performs the task, or `reasoning`."""
    return task.tool or task.agent or task.kind.value


def _difference_lines(earlier: Task, later: Task) -> Iterator[str]:
    """The fields of a replaced task that are different in its replacement."""
    before, after = _shown_fields(earlier), _shown_fields(later)
    different = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    for name in different:
        yield f"      {name}: {_value(before.get(name))} -> {_value(after.get(name))}"
    if not different:
        yield "      nothing is different"


def _shown_fields(task: Task) -> dict[str, object]:
    return {
        **{entry.name: entry.value for entry in task.inputs},
        "performed by": _performer(task),
        "criteria": task.criteria,
        "finds": ", ".join(entity.name for entity in task.expects),
        "waits for": ", ".join(task.depends_on),
    }


def _value(value: object) -> str:
    if value is None or value == "":
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shortened_line(text, _MAX_VALUE)
