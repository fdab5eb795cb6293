"""Make the text of a response from a report, with each citation mark as an annotation."""

import re

from openai.types.responses import ResponseOutputText
from openai.types.responses.response_output_text import AnnotationURLCitation

from holdfast.models.evidence.evidence import Citation, Report
from holdfast.reports.markdown_and_json_rendering import to_markdown

_MARK = re.compile(r"(?<!\\)\[(\d{1,6})\]")
_SOURCES = "\n## Sources\n"


def report_text(report: Report, base_url: str) -> ResponseOutputText:
    """The report as Markdown; each mark before the list of sources is annotated.

    An annotation counts characters of the text, and its address opens the passage on the page.
    """
    text = to_markdown(report)
    end = text.rfind(_SOURCES)
    by_mark = {citation.mark: citation for citation in report.citations}
    annotations = [
        _annotation(found, by_mark[int(found[1])], report.job_id, base_url)
        for found in _MARK.finditer(text, 0, end if end >= 0 else len(text))
        if int(found[1]) in by_mark
    ]
    return ResponseOutputText(type="output_text", text=text, annotations=[*annotations])


def plain_text(text: str) -> ResponseOutputText:
    """A text without citations."""
    return ResponseOutputText(type="output_text", text=text, annotations=[])


def _annotation(
    mark: re.Match[str], citation: Citation, job_id: str, base_url: str
) -> AnnotationURLCitation:
    return AnnotationURLCitation(
        type="url_citation",
        start_index=mark.start(),
        end_index=mark.end(),
        title=citation.title,
        url=f"{base_url}/jobs/{job_id}/report?mark={citation.mark}#source",
    )
