"""Tests for the format of a report, by its name and by the path that it is written to."""

from pathlib import Path

import pytest

from holdfast.cli.options.report_options import checked_report_format
from holdfast.models.errors import BadInput
from holdfast.reports.report_format import ReportFormat


@pytest.mark.parametrize(
    ("name", "out", "form"),
    [
        (None, None, "md"),
        (None, "folder", "md"),
        (None, "one.HTML", "html"),
        (None, "one.pdf", "pdf"),
        (None, "one.csl.json", "csl"),
        ("csl", "references.json", "csl"),
        ("docx", "report", "docx"),
        ("json", "one.json", "json"),
    ],
)
def test_the_ending_chooses_the_format_unless_it_is_named(
    name: str | None, out: str | None, form: str
) -> None:
    assert checked_report_format(name, Path(out) if out else None) == ReportFormat(form)


@pytest.mark.parametrize(("name", "out"), [("json", "x.md"), ("html", "x.md"), ("docx", "x.pdf")])
def test_a_path_that_ends_as_another_format_does_is_refused(name: str, out: str) -> None:
    with pytest.raises(BadInput, match=f"the format is {name}, and the file '{out}' ends as"):
        checked_report_format(name, Path(out))


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "report.html"
    folder.mkdir()

    assert checked_report_format("json", folder) is ReportFormat.JSON
