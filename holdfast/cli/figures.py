"""The command `figure`: which figures a report has, and one of them as a file."""

from pathlib import Path

from holdfast.cli.installation import ask
from holdfast.cli.output import console, print_json, print_text, short, table
from holdfast.client import Holdfast
from holdfast.figures import chosen_form, figure_of
from holdfast.reading import report_of
from models.errors import BadInput
from models.figures import ENDINGS, FigureForm, ReportFigure, StoredFigure


def figure_command(job_id: str, name: str | None, out: Path | None, *, json_output: bool) -> None:
    if name is None:
        _list(job_id, json_output=json_output)
        return

    async def read(holdfast: Holdfast) -> tuple[FigureForm, StoredFigure]:
        report = await report_of(holdfast, job_id)
        form = chosen_form(report, name, out.suffix if out else "")
        return form, await figure_of(holdfast, job_id, form.sha256)

    form, found = ask(read)
    path = out or Path(f"{form.sha256[:12]}{ENDINGS[form.media_type]}")
    try:
        path.write_bytes(found.data)
    except OSError as error:
        raise BadInput(f"cannot write {str(path)!r}: {error.strerror}") from error
    if json_output:
        print_json({"path": str(path), "media_type": form.media_type, "sha256": form.sha256})
    else:
        print_text(str(path))


def _list(job_id: str, *, json_output: bool) -> None:
    found = ask(lambda holdfast: report_of(holdfast, job_id)).figures
    if json_output:
        print_json(list(found))
        return
    if not found:
        print_text("the report has no figures")
        return
    console().print(table(("figure", "task", "forms", "title"), [_row(each) for each in found]))


def _row(figure: ReportFigure) -> tuple[str, ...]:
    forms = " ".join(ENDINGS[form.media_type] for form in figure.forms)
    return figure.id, figure.task, forms, short(figure.title, 80)
