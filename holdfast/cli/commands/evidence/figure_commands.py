"""Implement `holdfast figure`: list the figures of a report or write one figure to a file."""

from pathlib import Path

from holdfast.cli.installation_access import run_with_job
from holdfast.cli.render.plain_table import plain_table
from holdfast.cli.render.terminal_output import console, print_json, print_text, shortened_line
from holdfast.client import Holdfast
from holdfast.jobs.job_lookup import report_of
from holdfast.models.calls.tool_figures import (
    FIGURE_EXTENSIONS,
    FigureForm,
    ReportFigure,
    StoredFigure,
)
from holdfast.models.errors import BadInput
from holdfast.reports.figure_export import find_figure_form, load_job_figure


def figure_command(job: str, name: str | None, out: Path | None, *, json_output: bool) -> None:
    """List the figures, or write the named one to the file."""
    if name is None:
        _list_figures(job, json_output=json_output)
        return

    async def read(holdfast: Holdfast, job_id: str) -> tuple[FigureForm, StoredFigure]:
        report = await report_of(holdfast, job_id)
        form = find_figure_form(report, name, out.suffix if out else "")
        return form, await load_job_figure(holdfast, job_id, form.sha256)

    form, figure = run_with_job(job, read)
    path = out or Path(f"{form.sha256[:12]}{FIGURE_EXTENSIONS[form.media_type]}")
    try:
        path.write_bytes(figure.data)
    except OSError as error:
        raise BadInput(f"cannot write {str(path)!r}: {error.strerror}") from error
    if json_output:
        print_json({"path": str(path), "media_type": form.media_type, "sha256": form.sha256})
    else:
        print_text(str(path))


def _list_figures(job: str, *, json_output: bool) -> None:
    figures = run_with_job(job, report_of).figures
    if json_output:
        print_json(list(figures))
    elif not figures:
        print_text("the report has no figures")
    else:
        columns = ("figure", "task", "forms", "title")
        console().print(plain_table(columns, [_row(figure) for figure in figures]))


def _row(figure: ReportFigure) -> tuple[str, ...]:
    forms = " ".join(FIGURE_EXTENSIONS[form.media_type] for form in figure.forms)
    return figure.id, figure.task, forms, shortened_line(figure.title, 80)
