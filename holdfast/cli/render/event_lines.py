"""Format the events of a job: all of them for the log, the important ones as progress lines."""

from holdfast.cli.render.task_table import task_outcome
from holdfast.cli.render.terminal_output import shortened_line
from holdfast.jobs.record_in_words import cause, way_on_from_pause
from holdfast.models.views.job_views import EventView, JobView
from holdfast.models.wire.event_kinds import EventKind

_MAX_OUTCOME = 110
_MAX_FAILURE = 400
_MAX_LINE = 200


def event_line(event: EventView) -> str:
    """One event of the log, with its facts."""
    facts = " ".join(f"{name}={value}" for name, value in event.facts.items() if value is not None)
    line = f"{event.seq:>4} {event.at:%H:%M:%S} {event.kind:<16} {event.task:<6} {facts}"
    return shortened_line(line, _MAX_LINE) if "\n" in line else line.rstrip()


def progress_line(event: EventView, view: JobView) -> str | None:
    """The event as a line of progress; None for an event that only programs need."""
    task = next((task for task in view.tasks if task.id == event.task), None)
    description = shortened_line(task.description, 60) if task else ""
    match event.kind:
        case EventKind.TASK_STARTED:
            return f"  {event.task:<5} running  {description}"
        case EventKind.TASK_DONE if task:
            return f"  {event.task:<5} done     {shortened_line(task_outcome(task), _MAX_OUTCOME)}"
        case EventKind.TASK_FAILED:
            failure = str(event.facts.get("failure"))
            return f"  {event.task:<5} failed   {shortened_line(failure, _MAX_FAILURE)}"
        case EventKind.PLAN_STORED | EventKind.PLAN_CHANGED:
            return f"  plan  {_plan_change_text(event)}"
        # `holdfast agents` lists the missing parts of the installation; here they would be
        # repeated by each plan change of each job.
        case EventKind.TOOL_LEFT_OUT if "missing_server" not in event.facts:
            return f"  {event.facts.get('fault')}"
    return _job_event_line(event, view.job_id)


def _job_event_line(event: EventView, job_id: str) -> str | None:
    """An event of the whole job as a line."""
    by = event.facts.get("by")
    match event.kind:
        case EventKind.JOB_PAUSED:
            message = str(event.facts.get("message") or "")
            return f"  paused   {message or f'by {by}'}; {way_on_from_pause(job_id, message)}"
        case EventKind.JOB_RECOVERED:
            is_database = event.facts.get("cause") == "database"
            loss = "PostgreSQL was away" if is_database else "a worker was lost"
            return f"  recovery {loss}; its work continues"
        case EventKind.LOOP_HANDED_OVER:
            why = shortened_line(str(event.facts.get("why")), _MAX_FAILURE)
            return f"  loop     leaves the rest to a plan: {why}"
        case EventKind.MODEL_AWAITED:
            return f"  waits    {shortened_line(str(event.facts.get('why')), _MAX_FAILURE)}"
        case EventKind.QUESTION_ASKED:
            return f"  asks     {event.facts.get('kind')}: answer with `holdfast answer {job_id}`"
        case EventKind.QUESTION_ANSWERED:
            return f"  answered {event.facts.get('kind')} (from {event.facts.get('origin')})"
        case (
            EventKind.JOB_RESUMED
            | EventKind.JOB_RETRIED
            | EventKind.JOB_STEERED
            | EventKind.JOB_CANCELLING
        ):
            return f"  {event.kind.removeprefix('job.')} by {by}"
    return None


def _plan_change_text(event: EventView) -> str:
    given_up = event.facts.get("given_up")
    if given_up:
        return f"changed  {given_up} is given up: nothing more is expected of another search"
    added, superseded = _names(event, "added"), _names(event, "superseded")
    changed = _names(event, "changed")
    parts = [f"{superseded} replaced by"] if superseded else []
    parts += [added] if added else []
    parts += [f"{changed} refined"] if changed else []
    text = " ".join(parts) or f"{cause(str(event.facts.get('cause')))}, and no task was changed"
    if event.task:
        verb = "changed:" if superseded else "starts with"
        return f"{event.task} {verb} {text}"
    return f"ready    {text}" if event.kind == EventKind.PLAN_STORED else f"changed  {text}"


def _names(event: EventView, fact: str) -> str:
    names = event.facts.get(fact)
    return ", ".join(map(str, names)) if isinstance(names, list) else ""
