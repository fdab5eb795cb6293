"""Tests of the table of evidence: Markdown and HTML show each step with its quotes."""

import pytest

from holdfast.models.evidence.evidence import Citation, Report, ReportStatement
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_markdown

HOSTILE = "| x | <b>bold</b> |"


def citation(mark: int, title: str, quote: str) -> Citation:
    return Citation(
        mark=mark,
        evidence_id=40 + mark,
        source_id=70 + mark,
        address=f"{title.lower()}.md",
        title=title,
        heading=f"{title} > Early years",
        start=10,
        end=10 + len(quote),
        quote=quote,
        sha256="0" * 64,
    )


def report(*strengths: str) -> Report:
    findings = (
        ReportStatement(text="Ada Lindqvist designed the bridge.", marks=(1, 2)),
        ReportStatement(text="She was born in Malmo.", marks=(3,)),
    )
    return Report(
        question="Where was the designer of the bridge born?",
        answer="Malmo",
        summary=(ReportStatement(text="Malmo"),),
        findings=tuple(
            each.model_copy(update={"strength": strength})
            for each, strength in zip(findings, strengths, strict=False)
        ),
        gaps=("when she was born",),
        citations=(
            citation(1, "Bridge", "Designed by Lindqvist."),
            citation(2, "Bridge", HOSTILE),
            citation(3, "Ada", "Born in\nMalmo."),
        ),
        confidence=0.55,
        model="strong",
    )


def test_each_step_has_its_quotes_sources_and_strength() -> None:
    text = to_markdown(report("stated", "weak"))

    assert (
        "**Malmo**\n\n*Confidence: 55% (step 2 is a weak link). Read the quotes before you rely on it.*"
        in text
    )
    assert (
        "| step | finding | quote | source | support |\n| --- | --- | --- | --- | --- |\n" in text
    )
    assert "| 2 | She was born in Malmo. | “Born in Malmo.” [3] | Ada | weak |" in text
    assert "| Bridge | stated |" in text
    assert text.index("Malmo") < text.index("Confidence") < text.index("## Evidence")
    assert "## Findings" not in text


def test_a_quote_stands_once_and_no_number_of_the_database_is_shown() -> None:
    text = to_markdown(report("stated", "stated"))

    assert text.count("Born in Malmo.") == 1
    assert "- **Ada** (ada.md)\n  - [3] Early years, characters 10-24\n" in text
    assert "evidence 4" not in text
    assert "source 7" not in text
    assert "## What the documents do not state\n\n- when she was born" in text


def test_a_finding_that_is_its_quote_is_not_repeated() -> None:
    found = ReportStatement(text="“Born in Malmo.”", marks=(3,), strength="stated")
    one = report("stated", "stated").model_copy(update={"findings": (found, found)})

    assert "| 1 | “Born in Malmo.” | [3] | Ada | stated |" in to_markdown(one)
    assert "Born in Malmo" not in "".join(to_html(one).split("<q>")[1:])


def test_foreign_text_opens_no_cell_and_no_markup() -> None:
    row = next(each for each in to_markdown(report("stated", "stated")).splitlines() if "x" in each)

    assert row.replace("\\|", "").count("|") == 6
    assert "\\<b>" in row


def test_the_page_has_the_same_table() -> None:
    page = to_html(report("implied", "stated"))

    assert page.count("<tr>") == 3
    assert "<td>implied</td>" in page
    assert "step 1 is implied, not stated" in page
    assert (
        '<q>Designed by Lindqvist.</q>&#8288;<a class="mark" href="#source-1">[1]</a><br>' in page
    )
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "<b>bold" not in page
    assert "<blockquote>" not in page
    assert "evidence 4" not in page
    assert "<h2>What the documents do not state</h2>" in page


@pytest.mark.parametrize("strengths", [("stated",), ("", "")])
def test_one_finding_or_findings_that_nobody_judged_are_a_list(strengths: tuple[str, ...]) -> None:
    text, page = to_markdown(report(*strengths)), to_html(report(*strengths))

    assert "## Findings" in text
    assert "## Gaps" in text
    assert "   > Born in Malmo." in text
    assert "<th>Support</th>" not in page
