"""Say in one wording, whatever wrote the report, that nothing answers the question."""

from holdfast.models.evidence.evidence import Report, ReportStatement

NOT_FOUND = "Not found: nothing that was read answers the question."


def with_documents_counted(report: Report) -> Report:
    """Return the report with the number of documents in its `NOT_FOUND`, where it is known.

    Who writes the report does not know how many documents the collection has.
    """
    if not report.documents:
        return report
    count = "document" if report.documents == 1 else f"{report.documents:,} documents"
    told = ReportStatement(text=f"Not found in your {count}.")
    said = tuple(told if each.text == NOT_FOUND else each for each in report.summary)
    return report.model_copy(update={"summary": said})
