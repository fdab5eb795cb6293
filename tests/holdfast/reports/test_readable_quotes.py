"""Quotes of Markdown and tables are shown as a reader sees the document."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from holdfast.models.budget.job_stages import Stage, StageName
from holdfast.models.evidence.evidence import Citation, PossibleValue, Report, ReportStatement
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_markdown
from holdfast.reports.readable_quotes import quoted_rows, readable_text
from holdfast.reports.report_text import origin_line, shown_gaps

ROW = "| CA-12 | Correct the list | 18 February 2025 |"


def report(quote: str = ROW, **fields: object) -> Report:
    cited = Citation(
        mark=1,
        evidence_id=1,
        source_id=1,
        address="https://example.org/actions",
        title="Actions",
        heading="",
        start=0,
        end=len(quote),
        quote=quote,
        sha256="0",
    )
    statement = ReportStatement(text=f"Actions: “{quote}”", marks=(1,))
    given = {"question": "Is it closed?", "answer": "yes", "findings": (statement,)} | fields
    return Report.model_validate(given | {"citations": (cited,)})


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ("**Term.** It ends in 2026.", "Term. It ends in 2026."),
        ("- Fixed price: 19.4 pence", "Fixed price: 19.4 pence"),
        ("Contract: “- Fixed price”", "Contract: “Fixed price”"),
        ("2 ** 3 is 8, and -20 °C", "2 ** 3 is 8, and -20 °C"),
        (ROW, "CA-12 · Correct the list · 18 February 2025"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a · b; 1 · 2"),
    ],
)
def test_a_quote_is_shown_without_the_signs_of_its_format(quote: str, shown: str) -> None:
    assert readable_text(quote) == shown


def test_text_with_a_bar_is_no_table() -> None:
    assert quoted_rows("a | b") == quoted_rows("|") == quoted_rows("") == ()


@pytest.mark.conformance("REP-03")
def test_quoted_rows_are_a_table_of_the_page_and_an_address_of_the_web_is_a_link() -> None:
    page, text = to_html(report()), to_markdown(report())

    assert "<td>CA-12</td><td>Correct the list</td><td>18 February 2025</td>" in page
    assert '<a href="https://example.org/actions" rel="noreferrer">' in page
    assert "CA-12 · Correct the list · 18 February 2025" in text
    assert "\\*\\*" not in to_markdown(report("**Term.** It ends."))


def test_an_address_that_is_no_page_of_the_web_is_no_link() -> None:
    hostile = report()
    (cited,) = hostile.citations
    moved = cited.model_copy(update={"address": "javascript:alert(1)"})

    assert "<a href=" not in to_html(
        hostile.model_copy(update={"citations": (moved,), "findings": ()})
    )


def test_a_gap_that_only_repeats_the_question_is_not_shown() -> None:
    gaps = ("Not found: Is it closed?", "Not found: the date")

    assert shown_gaps(report(answer=None, gaps=gaps)) == ("Not found: the date",)
    assert shown_gaps(report(gaps=gaps)) == gaps
    assert "Not found: Is it closed?" not in to_markdown(report(answer=None, gaps=gaps))


@pytest.mark.parametrize(
    ("cost", "told"), [(Decimal("0.000429"), ", 0.000429 EUR."), (None, " tokens.")]
)
def test_the_report_says_when_it_was_made_and_what_it_took(cost: Decimal | None, told: str) -> None:
    stage = Stage(
        name=StageName.LOOP, why="w", model_calls=1, tool_calls=2, input_tokens=1000, cost=cost
    )
    made = report(job_id="job-1", delivered_at=datetime(2026, 11, 25, tzinfo=UTC)).with_stages(
        (stage,), "EUR"
    )

    line = origin_line(made)

    assert line.startswith("Job job-1, delivered 2026-11-25 00:00 UTC, cites 1 document. It took ")
    assert line.endswith(f"1 model call, 2 tool calls, 1,000 tokens{told.removeprefix(' tokens')}")
    assert line in to_markdown(made)


def test_the_short_answer_has_no_markdown_signs_of_its_document() -> None:
    assert "\n**Term. It ends.**\n" in to_markdown(report(answer="**Term.** It ends."))


@pytest.mark.parametrize(("about", "told"), [("the end", "the end: "), ("When?", "When? ")])
def test_a_question_about_a_possible_value_keeps_its_own_sign(about: str, told: str) -> None:
    value = PossibleValue(about=about, value="May", confidence=0.6, needed=0.7)
    unsure = report(answer=None, possible=(value,))

    assert f"- {told}May (confidence 60%" in to_markdown(unsure)
    assert f"<li>{told}<b>May</b>" in to_html(unsure)
