"""`holdfast source`: what was read, where, when and by which tool, with the quoted words marked."""

from collections.abc import Iterable

from holdfast.cli.installation import ask
from holdfast.cli.output import print_json, print_text, printable
from models.sources import SourceUse, SourceView
from storage.sources import source_view

_OPEN, _CLOSE = "⟦", "⟧"


def source_command(source_id: int, *, json_output: bool) -> None:
    found = ask(lambda holdfast: source_view(holdfast.db, source_id))
    if json_output:
        print_json(found)
        return
    for line in source_lines(found):
        print_text(printable(line))


def source_lines(source: SourceView) -> list[str]:
    """The source as lines of text; what is quoted stands between ⟦ and ⟧."""
    via = ", a server of your own: address, title and date are its word" if source.via else ""
    facts = {
        "source": str(source.id),
        "title": source.title,
        "heading": source.heading,
        "address": source.address,
        "published": source.date,
        "read by": f"{source.tool or 'not recorded'}{via}",
        "read first": f"{source.fetched_at:%Y-%m-%d %H:%M:%S %Z}",
        "characters": f"{source.start}-{source.end} of the document",
        "sha256": f"{source.sha256} ({'intact' if source.is_intact else 'THE TEXT HAS ANOTHER'})",
    }
    lines = [f"{name + ':':<12} {' '.join(told.split())}" for name, told in facts.items() if told]
    lines += [_use(each) for each in source.evidence] or ["quoted by:   nothing"]
    return [*lines, "", marked(source.text, source.evidence)]


def _use(use: SourceUse) -> str:
    seen = f"; {use.check.verdict} on {use.check.checked_at:%Y-%m-%d}" if use.check else ""
    place = f"{use.job_id} {use.task_id}.{use.entity}, {use.status}{seen}"
    return f"quoted by:   evidence {use.evidence_id} of {place}"


def marked(text: str, uses: Iterable[SourceUse]) -> str:
    """The text with each quoted stretch between the signs, which are nowhere else in it."""
    plain = text.replace(_OPEN, "[").replace(_CLOSE, "]")
    parts, at = [], 0
    for start, end in _stretches(uses):
        parts += [plain[at:start], _OPEN, plain[start:end], _CLOSE]
        at = end
    return "".join([*parts, plain[at:]])


def _stretches(uses: Iterable[SourceUse]) -> list[tuple[int, int]]:
    """The quoted ranges in order, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted((use.start, use.end) for use in uses):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
