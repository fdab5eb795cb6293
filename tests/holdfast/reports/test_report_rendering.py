"""Tests for reports as Markdown and HTML: marks lead to sources, and foreign text stays text."""

import re

from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.evidence.evidence import (
    CheckSummary,
    Citation,
    DeliveryCheck,
    Report,
    ReportConclusion,
    ReportContradiction,
    ReportStatement,
)
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_json, to_markdown


def report(text: str = "Ada kept it.", quote: str = "Ada Brink kept the light.") -> Report:
    citation = Citation(
        mark=1,
        evidence_id=5,
        source_id=3,
        address="keepers.md",
        title="Keepers",
        heading="Ada",
        start=10,
        end=35,
        quote=quote,
        sha256="0" * 64,
    )
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
    text = to_markdown(report("Ada kept it until 1931."))

    assert "Ada kept it until 1931. [1]" in text
    assert "- T2: her birthday" in text
    assert "- **Keepers** (keepers.md)\n  - [1] Ada, characters 10-35\n    > " in text
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


def test_markdown_is_a_file_that_steers_no_terminal() -> None:
    text = "a\x1b[2Jb\u202ec\x07\x9bd\u2066e"
    shown = to_markdown(report(text=text, quote=text))

    assert "a \\[2Jbc de" in shown
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\u2066"} & set(shown)


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


def whole(text: str) -> Report:
    told = ReportStatement(text=text, marks=(1,))
    return report(text).model_copy(
        update={
            "analysis": (ReportStatement(text=f"Because {text}", marks=(1,)),),
            "conclusions": (
                ReportConclusion(text=f"Probably {text}", marks=(1,), confidence=0.8, limits=text),
            ),
            "contradictions": (ReportContradiction(one=told, other=told),),
            "check_summary": CheckSummary(
                checked=4, judged=4, kept=2, hedged=1, dropped=1, checked_by="strict"
            ),
            "delivery_checks": (DeliveryCheck(name="tasks", has_passed=True, detail=text),),
            "warnings": (text,),
            "confidence": 0.8,
        }
    )


def test_every_part_is_shown_in_the_order_in_which_it_is_read() -> None:
    text = to_markdown(whole("Ada kept it until 1931."))

    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert titles == [
        "## Findings",
        "## Analysis",
        "## Conclusions",
        "## Contradictions",
        "## Gaps",
        "## Sources",
        "## How it was checked",
    ]
    assert (
        "- Probably Ada kept it until 1931. [1] (confidence 80%. Ada kept it until 1931.)" in text
    )
    assert (
        "- Ada kept it until 1931. [1] Against it: Ada kept it until 1931. [1] (not settled)"
        in text
    )
    assert "- 4 sentences checked (by strict): 2 kept, 1 hedged, 1 dropped" in text
    assert "- Tasks: Ada kept it until 1931." in text
    assert "characters 10-35\n    > " in text
    assert "evidence 5" not in text + to_html(whole("Ada kept it until 1931."))
    page = to_html(whole("Ada kept it until 1931."))
    assert [title for title in titles if f"<h2>{title[3:]}</h2>" not in page] == []


@given(st.text())
def test_no_part_lets_foreign_text_become_markup(text: str) -> None:
    hostile = f"{text}<script>alert(1)</script>[a](javascript:b)"

    assert "<script" not in to_html(whole(hostile))
    # What stands in a code span is text as it is.
    shown = re.sub(r"`[^`\n]*`", "`code`", to_markdown(whole(hostile)))
    assert shown.count("<script") == shown.count("\\<script")


def test_sources_are_named_once_with_all_their_marks() -> None:
    one = report()
    second = one.citations[0].model_copy(update={"mark": 2, "evidence_id": 6})

    told = to_json(one.model_copy(update={"citations": (*one.citations, second)}))

    assert told["sources"] == [
        {
            "source_id": 3,
            "title": "Keepers",
            "heading": "Ada",
            "date": "",
            "address": "keepers.md",
            "via": "",
            "sha256": "0" * 64,
            "marks": [1, 2],
        }
    ]
    assert told["key_findings"] == told["findings"]
