"""Load the figures of a report, embed them in the HTML page, and write both to a folder."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path

from holdfast.client import Holdfast
from holdfast.models.calls.tool_figures import (
    FIGURE_EXTENSIONS,
    FigureForm,
    ReportFigure,
    StoredFigure,
)
from holdfast.models.errors import BadInput, NotFound
from holdfast.models.evidence.evidence import Report
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_markdown
from holdfast.storage.ledger.figure_rows import load_figure

_FOLDER = "figures"

FigureImages = Mapping[str, StoredFigure]
"""The images of a report by their hash."""


async def load_job_figure(holdfast: Holdfast, job_id: str, sha256: str) -> StoredFigure:
    """Return the figure of the job with this hash of its bytes.

    Raises:
        NotFound: the job has no such figure.
    """
    figure = await load_figure(holdfast.db, job_id, sha256)
    if figure is None:
        raise NotFound(f"job {job_id!r} has no figure {sha256!r}; its report names its figures")
    return figure


async def load_figure_images(
    holdfast: Holdfast, job_id: str, report: Report, *, all_forms: bool = False
) -> FigureImages:
    """Load the shown form of each figure; with `all_forms`, every form."""
    form_groups = (figure.forms if all_forms else (figure.image,) for figure in report.figures)
    hashes = dict.fromkeys(form.sha256 for forms in form_groups for form in forms if form)
    return {sha256: await load_job_figure(holdfast, job_id, sha256) for sha256 in hashes}


def to_standalone_html(report: Report, images: FigureImages) -> str:
    """Return the report as one HTML page with embedded images."""

    def address(figure: ReportFigure) -> str | None:
        form = figure.image
        if form is None or form.sha256 not in images:
            return None
        data = b64encode(images[form.sha256].data).decode("ascii")
        return f"data:{form.media_type};base64,{data}"

    return to_html(report, address)


def write_report_folder(folder: Path, report: Report, images: FigureImages) -> list[Path]:
    """Write `report.md`, `report.html` and the figures into the folder; return their paths.

    Raises:
        BadInput: the folder cannot be written to.
    """
    files: dict[Path, bytes] = {
        folder / "report.md": to_markdown(report, _file).encode(),
        folder / "report.html": to_standalone_html(report, images).encode(),
    }
    for figure in report.figures:
        for form in figure.forms:
            files[folder / _file_name(figure, form)] = images[form.sha256].data
    return write_files(files)


def write_files(files: Mapping[Path, bytes]) -> list[Path]:
    """Write the files with the folders that they need; return their paths.

    Raises:
        BadInput: a file cannot be written.
    """
    for path, data in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            raise BadInput(f"cannot write to {str(path)!r}: {error.strerror}") from error
    return list(files)


def _file(figure: ReportFigure) -> str:
    return _file_name(figure, figure.image or figure.forms[0])


def _file_name(figure: ReportFigure, form: FigureForm) -> str:
    return f"{_FOLDER}/{figure.id}{FIGURE_EXTENSIONS[form.media_type]}"


def find_figure_form(report: Report, name: str, ending: str) -> FigureForm:
    """Return the form of a figure whose id or hash starts with `name`, by the file's ending.

    Raises:
        NotFound: no figure or several figures fit, or the figure has no such form.
    """
    ids = ", ".join(figure.id for figure in report.figures) or "none"
    matches = [figure for figure in report.figures if name and _has_prefix(figure, name)]
    if len(matches) != 1:
        raise NotFound(f"no single figure {name!r} in the report; figures: {ids}")
    (figure,) = matches
    if not ending:
        return figure.image or figure.forms[0]
    for form in figure.forms:
        if FIGURE_EXTENSIONS[form.media_type] == ending.lower().replace(".jpeg", ".jpg"):
            return form
    endings = ", ".join(FIGURE_EXTENSIONS[form.media_type] for form in figure.forms)
    raise NotFound(f"figure {figure.id} does not exist as {ending!r}; it exists as {endings}")


def _has_prefix(figure: ReportFigure, name: str) -> bool:
    return any(candidate.startswith(name) for candidate in _names(figure))


def _names(figure: ReportFigure) -> Iterable[str]:
    return (figure.id, *(form.sha256 for form in figure.forms))
