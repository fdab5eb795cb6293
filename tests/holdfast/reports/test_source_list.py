"""Tests for the sources of a report: each document once, with its passages."""

import pytest

from holdfast.models.evidence.evidence import Citation, Report
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_markdown
from holdfast.reports.source_list import cited_documents


def citation(mark: int, address: str, heading: str = "", **fields: str) -> Citation:
    return Citation(
        mark=mark,
        evidence_id=mark,
        source_id=mark,
        address=address,
        title=address.removesuffix(".md").title(),
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
