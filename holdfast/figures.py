"""A report's figures: on its page, in a folder of files, and one by one."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path

from holdfast.client import Holdfast
from holdfast.rendering import to_html, to_markdown
from models.errors import BadInput, NotFound
from models.evidence import Report
from models.figures import ENDINGS, FigureForm, ReportFigure, StoredFigure
from storage.figures import load_figure

_FOLDER = "figures"

Images = Mapping[str, StoredFigure]
"""By their hash."""


async def figure_of(holdfast: Holdfast, job_id: str, sha256: str) -> StoredFigure:
    """The figure of the job whose bytes have this hash.

    Raises:
        NotFound: there is none.
    """
    found = await load_figure(holdfast.db, job_id, sha256)
    if found is None:
        raise NotFound(f"job {job_id!r} has no figure {sha256!r}; its report names those it has")
    return found


async def images_of(
    holdfast: Holdfast, job_id: str, report: Report, *, all_forms: bool = False
) -> Images:
    """What the report shows; with `all_forms` also what it only names."""
    chosen = (each.forms if all_forms else (each.image,) for each in report.figures)
    hashes = dict.fromkeys(form.sha256 for forms in chosen for form in forms if form)
    return {sha256: await figure_of(holdfast, job_id, sha256) for sha256 in hashes}


def to_page(report: Report, images: Images) -> str:
    """The report as one page with its images in it."""

    def address(figure: ReportFigure) -> str | None:
        form = figure.image
        if form is None or form.sha256 not in images:
            return None
        data = b64encode(images[form.sha256].data).decode("ascii")
        return f"data:{form.media_type};base64,{data}"

    return to_html(report, address)


def write_folder(folder: Path, report: Report, images: Images) -> list[Path]:
    """The report as `report.md` and `report.html` with its figures as files beside them.

    Raises:
        BadInput: the folder cannot be written to.
    """
    files: dict[Path, bytes] = {
        folder / "report.md": to_markdown(report, _file).encode(),
        folder / "report.html": to_page(report, images).encode(),
    }
    for figure in report.figures:
        for form in figure.forms:
            files[folder / _file_name(figure, form)] = images[form.sha256].data
    try:
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        raise BadInput(f"cannot write to {str(folder)!r}: {error.strerror}") from error
    return list(files)


def _file(figure: ReportFigure) -> str:
    return _file_name(figure, figure.image or figure.forms[0])


def _file_name(figure: ReportFigure, form: FigureForm) -> str:
    return f"{_FOLDER}/{figure.id}{ENDINGS[form.media_type]}"


def chosen_form(report: Report, name: str, ending: str) -> FigureForm:
    """The form of the figure that begins with `name`, by the ending of the file it is wanted as.

    Raises:
        NotFound: the report has no such figure, or not in such a form.
    """
    known = ", ".join(each.id for each in report.figures) or "none"
    fits = [each for each in report.figures if name and _is_called(each, name)]
    if len(fits) != 1:
        raise NotFound(f"no one figure {name!r} in the report; figures: {known}")
    (figure,) = fits
    if not ending:
        return figure.image or figure.forms[0]
    for form in figure.forms:
        if ENDINGS[form.media_type] == ending.lower().replace(".jpeg", ".jpg"):
            return form
    there = ", ".join(ENDINGS[form.media_type] for form in figure.forms)
    raise NotFound(f"figure {figure.id} is not there as {ending!r}; it is there as {there}")


def _is_called(figure: ReportFigure, name: str) -> bool:
    return any(each.startswith(name) for each in _names(figure))


def _names(figure: ReportFigure) -> Iterable[str]:
    return (figure.id, *(form.sha256 for form in figure.forms))
