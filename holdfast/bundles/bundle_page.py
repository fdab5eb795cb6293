"""Render the page of a bundle: the report, its passages, the plan, the time, and the calls."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.jobs.record_in_words import (
    call_state,
    cause,
    model_name,
    task_kind,
    task_of_call,
    task_state,
)
from holdfast.jobs.waterfall import waterfall
from holdfast.jobs.work_in_words import work_of_role
from holdfast.models.bundles.bundle_manifest import Redaction
from holdfast.models.calls.call_records import CallView
from holdfast.models.evidence.evidence import Report
from holdfast.models.jobs.idle_span import IdleSpan
from holdfast.models.jobs.job_record import Job
from holdfast.models.jobs.job_recovery import Recovery
from holdfast.models.plans.research_plan import Task
from holdfast.models.plans.stored_plan_change import StoredPlanChange
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.reports.html_rendering import report_templates
from holdfast.reports.report_parts import report_parts
from holdfast.reports.report_text import FigureAddress

_TEMPLATE = "bundle_page.html.jinja"
_CONTEXT_CHARS = 800
_MOST_CALLS = 2000
_MOST_DESCRIPTION = 300


class PageFacts(NamedTuple):
    """What the page of a bundle shows besides the report."""

    job: Job
    changes: Sequence[StoredPlanChange]
    tasks: Sequence[StoredTask]
    calls: Sequence[CallView]
    recoveries: Sequence[Recovery]
    idle: Sequence[IdleSpan]
    evidence: Mapping[int, Mapping[str, Any]]
    """The rows of the evidence by number."""
    sources: Mapping[int, Mapping[str, Any]]
    release: str
    redacted: Sequence[Redaction]
    missing: Sequence[str]


class ShownPassage(NamedTuple):
    """The passage of a mark, with the text around its quote."""

    mark: int
    title: str
    address: str
    sha256: str
    before: str
    quote: str
    after: str


def bundle_page(report: Report, facts: PageFacts, address: FigureAddress) -> str:
    """Return one page without scripts, which needs no other file."""
    job = facts.job
    begin = job.started_at or job.created_at
    shown = waterfall(
        facts.tasks, facts.calls, facts.recoveries, begin, job.finished_at, idle=facts.idle
    )
    values = report_parts(report) | {
        "address": address,
        "mark_target": "passage",
        "passages": _passages(report, facts),
        "changes": _changes(facts),
        "waterfall": shown,
        "calls": facts.calls,
        "call_state": call_state,
        "model_name": model_name,
        "task_of_call": task_of_call,
        "work": work_of_role,
        "most_calls": _MOST_CALLS,
        "job": job,
        "release": facts.release,
        "redacted": [each.value for each in facts.redacted],
        "missing": facts.missing,
    }
    page: str = report_templates().get_template(_TEMPLATE).render(values)
    return page


def _passages(report: Report, facts: PageFacts) -> list[ShownPassage]:
    shown = []
    for citation in report.citations:
        row = facts.evidence.get(citation.evidence_id, {})
        text = facts.sources.get(citation.source_id, {}).get("text", "")
        start, end = row.get("start_char", 0), row.get("end_char", 0)
        is_there = bool(citation.quote) and text[start:end] == citation.quote
        shown.append(
            ShownPassage(
                citation.mark,
                citation.title,
                citation.address,
                citation.sha256,
                text[max(0, start - _CONTEXT_CHARS) : start] if is_there else "",
                citation.quote,
                text[end : end + _CONTEXT_CHARS] if is_there else "",
            )
        )
    return shown


def _changes(facts: PageFacts) -> list[dict[str, object]]:
    by_id: dict[str, Task] = {each.task.id: each.task for each in facts.tasks}
    return [
        {
            **{name: getattr(change, name) for name in type(change).model_fields},
            "cause": cause(change.cause),
            "tasks": [_task(by_id[name]) for name in change.added if name in by_id],
        }
        for change in facts.changes
    ]


def _task(task: Task) -> dict[str, object]:
    return {
        "id": task.id,
        "kind": task_kind(task.kind),
        "depends_on": task.depends_on,
        "description": task.description[:_MOST_DESCRIPTION],
        "status": task_state(task.status),
    }
