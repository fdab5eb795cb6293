"""Tests for the HTML report: the template escapes every value and names the report's origin."""

from datetime import UTC, datetime

from holdfast.models.calls.tool_figures import FigureForm, ReportFigure
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

HOSTILE = "\"'><script>alert(1)</script>"


def citation(mark: int, address: str = HOSTILE) -> Citation:
    return Citation(
        mark=mark,
        evidence_id=5,
        source_id=3,
        address=address,
        title=HOSTILE,
        heading=f"part {HOSTILE}",
        date=HOSTILE,
        via=HOSTILE,
        start=10,
        end=35,
        quote=HOSTILE,
        sha256="0" * 64,
    )


def hostile_report() -> Report:
    statement = ReportStatement(text=HOSTILE, marks=(1,))
    form = FigureForm(media_type="image/png", sha256="a" * 64)
    return Report(
        question=HOSTILE,
        answer=HOSTILE,
        summary=(statement,),
        findings=(ReportStatement(text=f"found {HOSTILE}", marks=(1,)),),
        analysis=(ReportStatement(text=f"because {HOSTILE}", marks=(1,)),),
        conclusions=(ReportConclusion(text=HOSTILE, confidence=0.8, limits=HOSTILE),),
        contradictions=(ReportContradiction(one=statement, other=statement, settled_by=HOSTILE),),
        gaps=(HOSTILE,),
        figures=(
            ReportFigure(
                id="a" * 12, title=HOSTILE, caption=HOSTILE, task="T1", tool=HOSTILE, forms=(form,)
            ),
        ),
        citations=(citation(1),),
        model=HOSTILE,
        check_summary=CheckSummary(checked=1, judged=1, checked_by=HOSTILE),
        delivery_checks=(DeliveryCheck(name=HOSTILE, has_passed=True, detail=HOSTILE),),
        warnings=(HOSTILE,),
        job_id=HOSTILE,
        delivered_at=datetime(2026, 3, 1, 12, 30, tzinfo=UTC),
    )


def test_the_template_escapes_every_value() -> None:
    page = to_html(hostile_report(), lambda _: HOSTILE)

    assert "<script" not in page
    assert page.count("&#34;&#39;&gt;&lt;script&gt;") == 25


def test_the_page_names_the_job_the_date_and_the_number_of_documents() -> None:
    report = hostile_report().model_copy(
        update={
            "job_id": "job-1",
            "citations": (citation(1, "a.md"), citation(2, "a.md"), citation(3, "b.md")),
        }
    )

    page = to_html(report)

    assert "Job job-1, delivered 2026-03-01 12:30 UTC, cites 2 documents." in page
    assert "cites 2 documents (the collection has 40)." in to_html(
        report.model_copy(update={"documents": 40})
    )
    assert "delivered" not in to_html(report.model_copy(update={"delivered_at": None}))
