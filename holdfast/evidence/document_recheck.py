"""Compare the quotes that a Word document carries with its report, and check their sources."""

from holdfast.client import Holdfast
from holdfast.evidence.source_recheck import DocumentRecheck, recheck_job
from holdfast.jobs.job_lookup import report_of
from holdfast.models.evidence.evidence import Citation
from holdfast.reports.exports.word_document import DocumentQuote, QuotedDocument


async def recheck_document(
    holdfast: Holdfast, job_id: str, document: QuotedDocument, *, by: str
) -> DocumentRecheck:
    """Read the sources of the document's quotes again, with the installation's tool servers.

    Raises:
        NotFound: there is no such job here, or the job has no report.
        BadConfiguration: `holdfast.toml` has a fault.
    """
    by_mark = {each.mark: each for each in (await report_of(holdfast, job_id)).citations}
    altered = [each.mark for each in document.quotes if not _is_of(each, by_mark.get(each.mark))]
    rechecked = await recheck_job(holdfast, job_id, by=by)
    carried = {each.mark for each in document.quotes}
    return DocumentRecheck(
        job_id=job_id,
        checks=tuple(each for each in rechecked.checks if each.mark in carried),
        folders=rechecked.folders,
        altered=tuple(dict.fromkeys(altered)),
    )


def _is_of(quote: DocumentQuote, citation: Citation | None) -> bool:
    """True if the document has the quote as the report has it; line breaks do not count."""
    if citation is None or quote.sha256 != citation.sha256:
        return False
    return quote.quote.split() == citation.quote.split()
