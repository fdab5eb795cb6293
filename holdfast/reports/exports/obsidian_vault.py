"""Write a report for Obsidian: a note of the report, and one for each source with its passages."""

import re
from collections.abc import Mapping
from itertools import chain, count

from holdfast.models.calls.tool_figures import FIGURE_EXTENSIONS, StoredFigure
from holdfast.models.evidence.evidence import Report
from holdfast.models.text.terminal_text import single_line
from holdfast.reports.exports.report_outline import Line, ReportOutline, Section, report_outline
from holdfast.reports.readable_quotes import readable_text
from holdfast.reports.source_list import CitedDocument, passage_place

_FORBIDDEN = re.compile(r'[\\/:*?"<>|#^\[\]%\x00-\x1f\x7f]+')
"""Signs that file systems or Obsidian's links do not take."""
_MARKUP = re.compile(r"[\\`*_<>\[\]#|~$=%^]")
"""`%%` begins a comment of Obsidian, and `^` the name of a block."""
_LONGEST_NAME = 80


def obsidian_notes(report: Report, images: Mapping[str, StoredFigure]) -> dict[str, bytes]:
    """Return the files of the folder by their paths."""
    outline = report_outline(report)
    names = _note_names(outline)
    links = {
        citation.mark: f"[[{names[at]}#^p{citation.mark}|{citation.mark}]]"
        for at, document in enumerate(outline.documents)
        for citation in document.citations
    }
    files = {"Report.md": _report_note(report, outline, links).encode()}
    for name, document in zip(names, outline.documents, strict=True):
        files[f"{name}.md"] = _source_note(document, report.job_id).encode()
    for figure in outline.figures:
        form = figure.image or figure.forms[0]
        if form.sha256 in images:
            files[f"figures/{figure.id}{FIGURE_EXTENSIONS[form.media_type]}"] = images[
                form.sha256
            ].data
    return files


def _note_names(outline: ReportOutline) -> list[str]:
    """Return a name for each source's note; two sources of one title have two names."""
    names: dict[str, str] = {}
    for document in outline.documents:
        bare = " ".join(_FORBIDDEN.sub(" ", single_line(document.title)).split())
        title = f"sources/{bare[:_LONGEST_NAME].strip(' .') or 'Source'}"
        numbered = (f"{title} {number}" for number in count(2))
        # File systems of Windows and macOS take names for the same that differ in case alone.
        name = next(each for each in chain([title], numbered) if each.casefold() not in names)
        names[name.casefold()] = name
    return [*names.values()]


def _report_note(report: Report, outline: ReportOutline, links: Mapping[int, str]) -> str:
    delivered = f"{report.delivered_at:%Y-%m-%d}" if report.delivered_at else ""
    parts = ["---", f"job: {report.job_id}", f"date: {delivered}", "tags: [holdfast]", "---", ""]
    parts += [f"# {_plain(outline.title)}", ""]
    parts += [f"> [!warning]\n> {_plain(warning)}\n" for warning in outline.warnings]
    for section in outline.sections:
        parts += _section(section, links)
    for figure in outline.figures:
        form = figure.image or figure.forms[0]
        parts += [f"![[figures/{figure.id}{FIGURE_EXTENSIONS[form.media_type]}]]", ""]
        parts += [f"*{_plain(f'{figure.title}. {figure.caption}'.strip())}*", ""]
    for section in outline.appendix:
        parts += _section(section, links)
    return "\n".join([*parts, f"*{_plain(outline.origin)}*", ""])


def _section(section: Section, links: Mapping[int, str]) -> list[str]:
    title = [f"## {section.title}", ""] if section.title else []
    sign = "- " if section.is_list else ""
    gap = [] if section.is_list else [""]
    lines = [part for line in section.lines for part in (f"{sign}{_line(line, links)}", *gap)]
    return [*title, *lines, *([""] if section.is_list else [])]


def _line(line: Line, links: Mapping[int, str]) -> str:
    text = _plain(line.text)
    marks = "".join(f" {links[mark]}" for mark in line.marks if mark in links)
    note = f" *{_plain(line.note)}*" if line.note else ""
    return f"{f'**{text}**' if line.is_strong else text}{marks}{note}".strip()


def _source_note(document: CitedDocument, job_id: str) -> str:
    first = document.citations[0]
    link = (
        f"[{_plain(document.place)}](<{document.link}>)"
        if document.link
        else _plain(document.place)
    )
    parts = [
        "---",
        f"job: {job_id}",
        f"sha256: {first.sha256}",
        "tags: [holdfast/source]",
        "---",
        "",
    ]
    parts += [f"# {_plain(document.title)}", "", link, ""]
    for citation in document.citations:
        # Obsidian finds the id of a quote between blank lines.
        parts += [f"> {_plain(readable_text(citation.quote))}", "", f"^p{citation.mark}", ""]
        parts += [f"*{_plain(passage_place(citation))}*", ""]
    return "\n".join(parts)


def _plain(text: str) -> str:
    """Return the text on one line, with every sign of Markdown and of Obsidian's links escaped."""
    return _MARKUP.sub(r"\\\g<0>", single_line(text))
