"""Show the passage that a mark of a report cites."""

from holdfast.client import Holdfast
from holdfast.jobs.job_lookup import report_of
from holdfast.mcp_server.tool_answers import SourcePassageView
from holdfast.models.errors import NotFound
from holdfast.models.reports.provenance_views import SourceView
from holdfast.storage.evidence.source_queries import load_source_view

_MAX_PASSAGE = 12_000
_MAX_SENTENCES = 20


async def cited_passage(holdfast: Holdfast, job_id: str, mark: int) -> SourcePassageView:
    """The passage of a mark, from the text as it was stored when the job read it.

    Raises:
        NotFound: there is no such job, no report, or no such mark in the report.
    """
    report = await report_of(holdfast, job_id)
    citation = next((each for each in report.citations if each.mark == mark), None)
    if citation is None:
        marks = f"1 to {len(report.citations)}" if report.citations else "none"
        raise NotFound(f"the report of {job_id} has no mark {mark}; its marks: {marks}")
    source = await load_source_view(holdfast.db, citation.source_id, job_id=job_id)
    sentences = [each.text for each in report.sentences if mark in each.marks]
    use = next((each for each in source.evidence if each.evidence_id == citation.evidence_id), None)
    start = use.start if use else 0
    return SourcePassageView(
        job=job_id,
        mark=mark,
        sentences=tuple(dict.fromkeys(sentences))[:_MAX_SENTENCES],
        title=citation.title,
        heading=citation.heading,
        address=citation.address,
        date=citation.date,
        quote=citation.quote,
        passage=_around(source, start),
        is_intact=source.is_intact
        and source.text[start : start + len(citation.quote)] == citation.quote,
        check=use.check if use else None,
    )


def _around(source: SourceView, at: int) -> str:
    """The text of the source; of a long text the part around the quote."""
    start = max(0, min(at - _MAX_PASSAGE // 2, len(source.text) - _MAX_PASSAGE))
    return source.text[start : start + _MAX_PASSAGE]
