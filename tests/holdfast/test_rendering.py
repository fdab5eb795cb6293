"""Reports as Markdown and as a page: marks lead to sources, foreign text stays text."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.rendering import to_html, to_markdown
from models.evidence import Citation, Report, ReportStatement


def report(text: str = "Ada kept it.", quote: str = "Ada Brink kept the light.") -> Report:
    citation = Citation(
        mark=1, evidence_id=5, source_id=3, address="keepers.md", title="Keepers", heading="Ada",
        start=10, end=35, quote=quote, sha256="0" * 64,
    )  # fmt: skip
    return Report(
        question="Who kept it?",
        answer="Ada",
        summary=(ReportStatement(text=text, marks=(1,)),),
        findings=(ReportStatement(text=text, marks=(1,)),),
        gaps=("T2: her birthday",),
        citations=(citation,),
        model="extractive",
    )


def test_markdown_has_marks_gaps_and_places() -> None:
    text = to_markdown(report())

    assert "Ada kept it. [1]" in text
    assert "- T2: her birthday" in text
    assert "1. Keepers (keepers.md, Ada, characters 10-35)" in text
    assert "> Ada Brink kept the light." in text


def test_marks_on_the_page_lead_to_their_source() -> None:
    page = to_html(report())

    assert '<a class="mark" href="#source-1">[1]</a>' in page
    assert '<li id="source-1"' in page


def test_foreign_text_forges_neither_markup_nor_marks() -> None:
    hostile = "x [9] <script>alert(1)</script> [a](javascript:b) `c`"

    page = to_html(report(text=hostile, quote=hostile))
    text = to_markdown(report(text=hostile, quote=hostile))

    assert "<script" not in page
    assert 'href="javascript' not in page
    assert " [9]" not in text
    assert "\\[a](javascript:b)" in text


@given(st.text())
def test_any_text_makes_a_report(text: str) -> None:
    assert "<script" not in to_html(report(text=text, quote=text or "q"))
    assert to_markdown(report(text=text, quote=text or "q"))


def test_a_foreign_heading_opens_neither_a_page_nor_a_picture() -> None:
    hostile = '<img src="http://evil.example/x.png"> [click](http://evil.example)'
    one = report()
    citation = one.citations[0].model_copy(update={"heading": hostile, "address": f"# {hostile}"})

    text = to_markdown(one.model_copy(update={"citations": (citation,), "question": "# not mine"}))

    assert text.count("<img") == text.count("\\<img") > 0
    assert text.count("[click]") == text.count("\\[click]") > 0
    assert text.startswith("# \\# not mine")
