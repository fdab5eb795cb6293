"""Format a source as lines of text with its quotes marked."""

from collections.abc import Iterable

from holdfast.models.reports.provenance_views import SourceUse, SourceView

_OPEN, _CLOSE = "⟦", "⟧"


def source_lines(source: SourceView) -> list[str]:
    """The source's facts and its text; each quote stands between ⟦ and ⟧."""
    claimed = ", a tool server of your own, which states the address, title and date"
    facts = {
        "source": str(source.id),
        "title": source.title,
        "heading": source.heading,
        "address": source.address,
        "published": source.date,
        "read by": f"{source.tool or 'not recorded'}{claimed if source.via else ''}",
        "read first": f"{source.fetched_at:%Y-%m-%d %H:%M:%S %Z}",
        "characters": f"{source.start}-{source.end} of the document",
        "sha256": f"{source.sha256} ({'intact' if source.is_intact else 'THE TEXT HAS ANOTHER'})",
    }
    lines = [f"{name + ':':<12} {' '.join(fact.split())}" for name, fact in facts.items() if fact]
    lines += [_use_line(use) for use in source.evidence] or ["quoted by:   nothing"]
    return [*lines, "", mark_quotes(source.text, source.evidence)]


def _use_line(use: SourceUse) -> str:
    check = f"; {use.check.verdict} on {use.check.checked_at:%Y-%m-%d}" if use.check else ""
    entity = f"{use.job_id} {use.task_id}.{use.entity}, {use.status}{check}"
    return f"quoted by:   evidence {use.evidence_id} of {entity}"


def mark_quotes(text: str, uses: Iterable[SourceUse]) -> str:
    """The text with each quote between ⟦ and ⟧; signs like these in the text become [ and ]."""
    plain = text.replace(_OPEN, "[").replace(_CLOSE, "]")
    parts, at = [], 0
    for start, end in _quoted_ranges(uses):
        parts += [plain[at:start], _OPEN, plain[start:end], _CLOSE]
        at = end
    return "".join([*parts, plain[at:]])


def _quoted_ranges(uses: Iterable[SourceUse]) -> list[tuple[int, int]]:
    """The quoted ranges in order; overlapping ranges are merged."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted((use.start, use.end) for use in uses):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
