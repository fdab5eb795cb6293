"""Show a cited passage in its document: the exact characters of the quote, and its checks."""

from typing import NamedTuple

from holdfast.client import Holdfast
from holdfast.evidence.report_provenance import provenance_of
from holdfast.models.evidence.evidence import Report
from holdfast.models.evidence.source_checks import SourceDrift, StoredSourceCheck
from holdfast.models.reports.provenance_views import Provenance, SourceView
from holdfast.storage.evidence.source_queries import load_source_view

_CONTEXT = 4_000
"""Characters before and after the quote; a source may be a whole book."""


class CheckWords(NamedTuple):
    """The result of a check; the colour never stands without the words."""

    words: str
    tone: str


class CitedPassage(NamedTuple):
    """A citation with its passage, split at the quote."""

    provenance: Provenance
    source: SourceView
    before: str
    quote: str
    after: str
    is_cut_before: bool
    is_cut_after: bool
    checks: tuple[CheckWords, ...]


async def load_cited_passage(
    holdfast: Holdfast, job_id: str, report: Report, mark: int
) -> CitedPassage:
    """The passage of a mark of the report.

    Raises:
        NotFound: the report has no such mark.
    """
    provenance = await provenance_of(holdfast, job_id, mark)
    source = await load_source_view(holdfast.db, provenance.citation.source_id, job_id=job_id)
    start, end, text = provenance.source_start, provenance.source_end, source.text
    first, last = max(0, start - _CONTEXT), min(len(text), end + _CONTEXT)
    return CitedPassage(
        provenance=provenance,
        source=source,
        before=text[first:start],
        quote=text[start:end],
        after=text[end:last],
        is_cut_before=first > 0,
        is_cut_after=last < len(text),
        checks=_checks(provenance, report),
    )


def _checks(provenance: Provenance, report: Report) -> tuple[CheckWords, ...]:
    quoted = (
        CheckWords("quoted letter by letter", "good")
        if provenance.resolves
        else CheckWords("the quote is not at its place in the stored text", "bad")
    )
    checks = [quoted]
    if provenance.status != "active":
        checks.append(CheckWords(f"this evidence is {provenance.status}", "bad"))
    checks += _judgements(provenance, report)
    checks.append(_source_words(provenance.check))
    return tuple(checks)


def _judgements(provenance: Provenance, report: Report) -> list[CheckWords]:
    """How strongly the quotes show the sentences with the mark, as far as somebody judged it."""
    judge = report.check_summary.checked_by if report.check_summary else ""
    strengths = {
        each.strength
        for each in report.sentences
        if provenance.mark in each.marks and each.strength
    }
    by = f"judged by {judge}" if judge else "checked by rules"
    tones = {"stated": "good", "implied": "weak", "weak": "weak"}
    return [CheckWords(f"{by}: {each}", tones.get(each, "plain")) for each in sorted(strengths)]


def _source_words(check: StoredSourceCheck | None) -> CheckWords:
    if check is None:
        return CheckWords("source not read again since", "plain")
    day = f"{check.checked_at.day} {check.checked_at:%B %Y}"
    return {
        SourceDrift.UNCHANGED: CheckWords(f"source unchanged on {day}", "good"),
        SourceDrift.MOVED: CheckWords(f"quote at another place of the source on {day}", "weak"),
        SourceDrift.CHANGED: CheckWords(f"source changed; quote not there on {day}", "bad"),
        SourceDrift.GONE: CheckWords(f"source gone on {day}", "bad"),
        SourceDrift.UNREADABLE: CheckWords(f"source could not be read on {day}", "weak"),
    }[check.verdict]


def citations_line(report: Report) -> CheckWords:
    """Say of all citations whether they open, in one line."""
    count = len(report.citations)
    if not count:
        return CheckWords("no citations", "plain")
    failed = [
        each for each in report.delivery_checks if each.name == "citations" and not each.has_passed
    ]
    if failed or report.warnings:
        return CheckWords("some citations have a warning", "weak")
    return CheckWords(
        "the one citation opens" if count == 1 else f"all {count} citations open", "good"
    )


def sentences_line(report: Report) -> CheckWords | None:
    """Say how many sentences were kept, hedged and dropped; None without a check."""
    summary = report.check_summary
    if summary is None or not summary.checked:
        return None
    parts = [f"{summary.kept} kept"]
    parts += [f"{summary.hedged} hedged"] if summary.hedged else []
    parts += [f"{summary.dropped} dropped"] if summary.dropped else []
    tone = "weak" if summary.hedged or summary.dropped else "good"
    noun = "sentence" if summary.checked == 1 else "sentences"
    return CheckWords(f"{summary.checked} {noun} checked: {', '.join(parts)}", tone)
