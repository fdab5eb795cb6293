"""Tests for figures in reports: titles are text, an SVG is never embedded, and the format follows
the file ending."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from holdfast.models.calls.tool_figures import SVG, FigureForm, ReportFigure, StoredFigure
from holdfast.models.errors import BadInput, NotFound
from holdfast.models.evidence.evidence import Report
from holdfast.reports.figure_export import find_figure_form, to_standalone_html, write_report_folder
from holdfast.reports.markdown_and_json_rendering import to_json, to_markdown

PNG = FigureForm(media_type="image/png", sha256="a" * 64)
DRAWING = FigureForm(media_type=SVG, sha256="b" * 64)


def figure(*forms: FigureForm, title: str = "It grew", tool: str = "charts.draw") -> ReportFigure:
    first = forms[0].sha256[:12]
    return ReportFigure(id=first, title=title, caption="So", task="T3", tool=tool, forms=forms)


def report(*figures: ReportFigure) -> Report:
    return Report(question="Who?", answer="Ada", figures=figures, model="m")


def images(*forms: FigureForm) -> dict[str, StoredFigure]:
    return {
        each.sha256: StoredFigure(
            media_type=each.media_type, title="t", tool="lab.plot", data=b"<script>bytes"
        )
        for each in forms
    }


def test_a_figure_stands_in_every_form_of_the_report() -> None:
    one = report(figure(PNG, DRAWING))

    assert "## Figures\n\n![It grew](figure:aaaaaaaaaaaa)" in to_markdown(one)
    page = to_standalone_html(one, images(PNG, DRAWING))
    assert page.count("<img ") == 1
    assert 'src="data:image/png;base64,PHNjcmlwdD5ieXRlcw==" alt="It grew"' in page
    assert to_json(one)["figures"] == [figure(PNG, DRAWING).model_dump(mode="json")]


def test_an_svg_is_named_and_not_shown_on_the_page() -> None:
    page = to_standalone_html(report(figure(DRAWING, tool="lab.plot")), images(DRAWING))

    assert "<img" not in page
    assert "drawn by" not in page
    assert "T3" not in page


def test_a_title_forges_neither_markup_nor_a_link() -> None:
    title = 'x](javascript:a) "><script>alert(1)</script> ![y](http://z/)'
    one = report(figure(PNG, title=title))

    page = to_standalone_html(one, images(PNG))
    text = to_markdown(one)

    assert "<script" not in page
    assert _tags(page).count("img") == 1
    assert not {"script", "a", "svg"} & set(_tags(page))
    assert "x](javascript" not in text
    assert " ![y]" not in text


def _tags(page: str) -> list[str]:
    """The elements of a page, as a browser would find them."""
    found: list[str] = []

    class Reading(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append(tag)

    Reading().feed(page)
    return found


def test_the_form_is_chosen_by_the_ending_of_the_file() -> None:
    one = report(figure(PNG, DRAWING), figure(FigureForm(media_type="image/jpeg", sha256="c" * 64)))

    assert find_figure_form(one, "aaaa", "") == PNG
    assert find_figure_form(one, "aaaaaaaaaaaa", ".SVG") == DRAWING
    assert find_figure_form(one, "b" * 64, ".png") == PNG
    assert find_figure_form(one, "cc", ".jpeg").media_type == "image/jpeg"
    for name in ("", "d"):
        with pytest.raises(NotFound, match="figures: aaaaaaaaaaaa, cccccccccccc"):
            find_figure_form(one, name, "")
    with pytest.raises(NotFound, match=r"does not exist as '\.gif'; it exists as \.png, \.svg"):
        find_figure_form(one, "aaaa", ".gif")


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(BadInput, match="cannot write to"):
        write_report_folder(tmp_path / "file", report(figure(PNG)), images(PNG))
