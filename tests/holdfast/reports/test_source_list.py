"""Tests for the sources of a report: each document once, with its passages."""

from datetime import UTC, datetime

import pytest

from holdfast.models.evidence.evidence import Citation, Report
from holdfast.reports.exports.reference_lists import to_ris
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_markdown
from holdfast.reports.report_text import origin_line
from holdfast.reports.source_list import cited_documents, counted_sources


def citation(mark: int, address: str, heading: str = "", **fields: str) -> Citation:
    return Citation(
        mark=mark,
        evidence_id=mark,
        source_id=mark,
        address=address,
        title="" if address.startswith("tool:") else address.removesuffix(".md").title(),
        heading=heading,
        start=mark,
        end=mark + 9,
        quote=f"quote {mark}",
        sha256="0",
        **fields,
    )


REPORT = Report(
    question="Who kept it?",
    answer="Ada",
    citations=(
        citation(1, "lamp.md", "Lamp > Keepers"),
        citation(2, "pier.md", date="1931-04-02T10:00", via="kb"),
        citation(3, "lamp.md", "Lamp > Oil"),
    ),
)


@pytest.mark.conformance("REP-03")
def test_each_document_stands_once_with_its_passages() -> None:
    assert [(each.title, len(each.citations)) for each in cited_documents(REPORT)] == [
        ("Lamp", 2),
        ("Pier", 1),
    ]
    assert (
        "- **Lamp** (lamp.md)\n"
        "  - [1] Keepers, characters 1-10\n    > quote 1\n"
        "  - [3] Oil, characters 3-12\n    > quote 3\n"
        "- **Pier** (pier.md, 1931-04-02, via kb)\n"
        "  - [2] characters 2-11\n    > quote 2\n"
    ) in to_markdown(REPORT)
    page = to_html(REPORT)
    assert page.count("<b>Lamp</b>") == 1
    assert page.index('id="source-3"') < page.index('id="source-2"')


CODE = "rows = sum(paid)\nrows * 2"
COMPUTED = REPORT.model_copy(
    update={
        "citations": (
            *REPORT.citations,
            citation(4, "tool:python.run", code=CODE, inputs="paid = [1, 2]"),
            citation(5, "tool:python.run", code="1 + 1"),
            citation(6, "tool:kb.say", via="kb"),
        )
    }
)


@pytest.mark.conformance("REP-03")
def test_a_calculation_is_no_document_and_shows_what_it_ran() -> None:
    assert (
        "- **Calculation** (python.run)\n"
        "  - [4] computed by: rows = sum(paid) rows \\* 2, with paid = \\[1, 2]\n    > quote 4\n"
        "  - [5] computed by: 1 + 1\n    > quote 5\n"
        "- **Answer of a tool** (kb.say, via kb)\n"
    ) in to_markdown(COMPUTED)
    assert "computed by: rows = sum(paid) rows * 2, with paid = [1, 2]" in to_html(COMPUTED)
    assert "python" not in to_ris(COMPUTED)


def test_the_last_line_counts_documents_and_names_calculations_apart() -> None:
    made = {"job_id": "job-1", "delivered_at": datetime(2026, 11, 25, tzinfo=UTC)}
    origin = origin_line(COMPUTED.model_copy(update=made | {"documents": 40}))

    assert "cites 2 documents (the collection has 40), 2 calculations and 1 tool answer." in origin
    assert counted_sources(REPORT) == "2 documents"


@pytest.mark.conformance("REP-05")
@pytest.mark.parametrize(
    ("documents", "told"),
    [
        (40, "00:00 UTC, from a collection of 40 documents."),
        (1, "00:00 UTC, from a collection of 1 document."),
        (None, "00:00 UTC."),
    ],
)
def test_a_report_that_cites_nothing_says_from_how_many_documents(
    documents: int | None, told: str
) -> None:
    made = {"job_id": "job-1", "delivered_at": datetime(2026, 11, 25, tzinfo=UTC)}
    nothing = REPORT.model_copy(update=made | {"citations": (), "documents": documents})

    assert origin_line(nothing).endswith(told)
