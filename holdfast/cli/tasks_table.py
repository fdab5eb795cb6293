"""A job as a person watches it: a line about the whole, and the table of its tasks."""

import json

from rich.table import Table
from rich.text import Text

from holdfast.cli.money import comparison_lines, money
from holdfast.cli.output import STYLES, counted, printable, short, table
from holdfast.cli.recovery_lines import recovery_lines
from models.views import EventView, JobView, TaskView


def job_lines(view: JobView) -> list[str]:
    """The job in a few lines."""
    seconds = "" if view.seconds is None else f" in {view.seconds:.1f} s"
    reason = f" ({view.stop_reason})" if view.stop_reason else ""
    lines = [
        f"{view.job_id}  {view.status}{reason}{seconds}  preset {view.preset}, model {view.model}",
        f"question: {short(view.question, 300)}",
    ]
    if view.answer:
        lines.append(f"answer:   {short(view.answer, 300)}")
    if view.message:
        lines.append(f"message:  {short(view.message, 600)}")
    lines.append(
        f"spent:    {counted(view.calls.model, 'model call')}, "
        f"{counted(view.calls.tool, 'tool call')}, {view.tokens.input} tokens in, "
        f"{view.tokens.output} out, {counted(view.replans, 'replan')}, "
        f"cost {money(view.cost, view.currency)}"
    )
    if view.estimate is not None:
        lines += comparison_lines(view.estimate, view.currency)
    for recovery in view.recoveries:
        lines += recovery_lines(recovery)
    if view.temporal.url:
        lines.append(f"temporal: {view.temporal.url}")
    return lines


def tasks_table(view: JobView) -> Table:
    """Task, status, what it found, confidence, seconds, tokens."""
    rows = [_row(task) for task in view.tasks]
    return table(("task", "status", "what", "found", "conf.", "seconds", "tokens"), rows)


def _row(task: TaskView) -> tuple[object, ...]:
    return (
        task.id,
        Text(task.status, style=STYLES.get(task.status, "")),
        short(task.description, 60),
        short(found(task), 60),
        "" if task.confidence is None else f"{task.confidence:.2f}",
        "" if task.seconds is None else f"{task.seconds:.1f}",
        task.tokens or "",
    )


def found(task: TaskView) -> str:
    """What the task found, or why it did not."""
    if task.entities:
        return "; ".join(f"{name} = {_value(value)}" for name, value in task.entities.items())
    if task.failure:
        return str(task.failure.get("message", ""))
    return ""


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return printable(text)


def progress_line(event: EventView, view: JobView) -> str | None:
    """One entry of the log as a line, or nothing for entries that only programs need."""
    task = next((each for each in view.tasks if each.id == event.task), None)
    what = short(task.description, 60) if task else ""
    match event.kind:
        case "task.started":
            return f"  {event.task:<5} running  {what}"
        case "task.done" if task:
            return f"  {event.task:<5} done     {short(found(task), 110)}"
        case "task.failed":
            return f"  {event.task:<5} failed   {short(str(event.facts.get('failure')), 110)}"
        case "plan.stored" | "plan.revised":
            return f"  plan  {_change(event)}"
        case "tool.left_out":
            return f"  {event.facts.get('fault')}"
    return _job_line(event)


def _job_line(event: EventView) -> str | None:
    """What was done to the whole job."""
    by = event.facts.get("by")
    match event.kind:
        case "job.paused":
            why = event.facts.get("message") or f"by {by}"
            return f"  paused   {short(str(why), 200)}; `holdfast resume` lets it go on"
        case "job.recovered":
            is_database = event.facts.get("cause") == "database"
            lost = "PostgreSQL was away" if is_database else "a worker died"
            return f"  recovery {lost}; its work goes on"
        case "question.asked":
            asks = event.facts.get("asks")
            return f"  asks     {asks}: `holdfast answer` shows the question and answers it"
        case "question.answered":
            return f"  answered {event.facts.get('asks')} (from {event.facts.get('origin')})"
        case "job.resumed" | "job.retried" | "job.steered" | "job.cancelling":
            return f"  {event.kind.removeprefix('job.')} by {by}"
    return None


def _change(event: EventView) -> str:
    added, gone = event.facts.get("added"), event.facts.get("superseded")
    names = ", ".join(map(str, added)) if isinstance(added, list) else ""
    if not isinstance(gone, list) or not gone:
        return f"ready    {names}"
    return f"changed  {', '.join(map(str, gone))} replaced by {names}"
