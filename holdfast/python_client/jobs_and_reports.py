"""Define jobs and reports, and show them in a notebook as HTML whose text is escaped."""

from collections.abc import Iterable
from html import escape

from holdfast.python_client.answers import Answer, Citation, JobLine, Statement, Task, Tokens

_WEB = ("http://", "https://")


class Job(JobLine):
    """A job with its tasks and its spending."""

    message: str = ""
    """What happened, where the status does not say it."""
    tasks: tuple[Task, ...] = ()
    tokens: Tokens
    cost: float | None = None
    currency: str = ""
    follows: str | None = None
    forked_from: str | None = None
    forks: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """The job as a notebook shows it."""
        return _job_html(self)


class Report(Answer):
    """The delivered report of a job."""

    question: str
    answer: str | None = None
    confidence: float | None = None
    summary: tuple[Statement, ...] = ()
    key_findings: tuple[Statement, ...] = ()
    citations: tuple[Citation, ...] = ()
    gaps: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """The report as a notebook shows it."""
        return _report_html(self)


def _job_html(job: Job) -> str:
    """The job's question, state and tasks."""
    cost = "" if job.cost is None else f" · {job.cost:.4f} {job.currency}"
    spent = f"{job.tokens.input + job.tokens.output:,} tokens{cost}"
    state = " · ".join(filter(None, (job.status, job.stop_reason or "", spent)))
    parts = [f"<p><b>{escape(job.question)}</b><br>{escape(job.job_id)} · {escape(state)}</p>"]
    if job.message:
        parts.append(f"<p>{escape(job.message)}</p>")
    if job.answer:
        parts.append(f"<p>{escape(job.answer)}</p>")
    if job.tasks:
        head = "<tr><th>task</th><th>status</th><th>what</th><th>tokens</th></tr>"
        parts.append(f"<table>{head}{''.join(map(_task_row, job.tasks))}</table>")
    return f"<div>{''.join(parts)}</div>"


def _report_html(report: Report) -> str:
    """The report's answer, findings and sources."""
    parts = [f"<h3>{escape(report.question)}</h3>"]
    parts += [f"<p><b>Warning:</b> {escape(warning)}</p>" for warning in report.warnings]
    if report.answer:
        sure = "" if report.confidence is None else f" <i>(confidence {report.confidence:.2f})</i>"
        parts.append(f"<p><b>{escape(report.answer)}</b>{sure}</p>")
    parts += _list("Summary", map(_statement, report.summary))
    parts += _list("Findings", map(_statement, report.key_findings))
    parts += _list("Gaps", map(escape, report.gaps))
    parts += _list("Sources", map(_citation, report.citations))
    return f"<div>{''.join(parts)}</div>"


def _task_row(task: Task) -> str:
    cells = (task.id, task.status, task.description, f"{task.tokens:,}")
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _list(title: str, items: Iterable[str]) -> list[str]:
    lines = "".join(f"<li>{item}</li>" for item in items)
    return [f"<h4>{title}</h4><ul>{lines}</ul>"] if lines else []


def _statement(statement: Statement) -> str:
    marks = "".join(f" [{mark}]" for mark in statement.marks)
    return f"{escape(statement.text)}{marks}"


def _citation(citation: Citation) -> str:
    name = escape(citation.title or citation.address)
    # Only addresses of the web become links: another scheme could run a script.
    if citation.address.startswith(_WEB):
        name = f'<a href="{escape(citation.address)}" rel="noopener noreferrer">{name}</a>'
    quote = f": <q>{escape(citation.quote)}</q>" if citation.quote else ""
    return f"[{citation.mark}] {name}{quote}"
