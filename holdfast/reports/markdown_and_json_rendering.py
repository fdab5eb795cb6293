"""Render a report as Markdown or as JSON."""

import re
from collections.abc import Iterable, Iterator, Sequence

from pydantic import JsonValue

from holdfast.models.calls.tool_figures import ReportFigure
from holdfast.models.evidence.evidence import (
    Citation,
    NearestPassage,
    PossibleValue,
    Report,
    ReportConclusion,
    ReportContradiction,
    ReportStatement,
)
from holdfast.models.text.terminal_text import single_line
from holdfast.reports.check_summary import author_line, check_lines, stage_lines
from holdfast.reports.evidence_table import EvidenceRow, evidence_rows
from holdfast.reports.readable_quotes import readable_text
from holdfast.reports.report_document import report_document
from holdfast.reports.report_text import (
    NOT_STATED,
    FigureAddress,
    about_text,
    caption_text,
    confidence_text,
    origin_line,
    possible_text,
    settlement_text,
    shown_gaps,
)
from holdfast.reports.short_answer import ShortAnswer, short_answer
from holdfast.reports.source_list import CitedDocument, cited_documents, passage_place
from holdfast.reports.usual_level import UsualLevel, usual_level

_LINK_SIGNS = ("://", "www.", "@", "mailto:", "xmpp:")
_MARKUP = re.compile(r"[\\`<\[*~]|&(?=#?\w+;)|(?<!\w)_|_(?!\w)")
_TABLE_HEAD = (
    "| step | finding | quote | source | support |",
    "| --- | --- | --- | --- | --- |",
)
_LIST = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
"""The beginning of a numbered list."""


def _figure_id_address(figure: ReportFigure) -> str:
    return f"figure:{figure.id}"


def to_markdown(report: Report, address: FigureAddress = _figure_id_address) -> str:
    """Return the report as Markdown, with the cited documents and passages at the end.

    By default, a figure's address is `figure:ID`.
    """
    parts = [f"# {_escaped_line(report.question)}", ""]
    parts += [f"> **Warning:** {_escaped_line(warning)}\n" for warning in report.warnings]
    lead = short_answer(report)
    parts += _lead(lead)
    rows = evidence_rows(report)
    parts += _evidence(report) if rows else _findings(lead.findings)
    parts += _section("Analysis", _lines(lead.analysis))
    parts += _section("Figures", (_figure(figure, address) for figure in report.figures))
    parts += _section("Conclusions", map(_conclusion, lead.conclusions))
    parts += _section("Contradictions", map(_contradiction, report.contradictions))
    parts += _section("Possible, but not proven", map(_possible, report.possible))
    parts += _section(NOT_STATED if rows else "Gaps", _list(shown_gaps(report)))
    parts += _section("What was searched", _list(report.searches))
    parts += _section("Nearest passages", map(_nearest, report.nearest))
    parts += _section("What would help", _list(report.advice))
    documents = cited_documents(report)
    parts += _section("Sources", (_document(each, with_quotes=not rows) for each in documents))
    parts += _section("How it was checked", _list(check_lines(report)))
    parts += _section("How it was made", _list(stage_lines(report)))
    origin = f" {origin_line(report)}".rstrip()
    parts.append(f"*{_escaped_line(author_line(report) + origin)}*")
    return "\n".join(parts).rstrip() + "\n"


def to_json(report: Report) -> dict[str, JsonValue]:
    """Return the report as JSON, with the additional fields of a `ReportDocument`."""
    return report_document(report).model_dump(mode="json")


def _lead(lead: ShortAnswer) -> list[str]:
    """Return the short answer, how sure it is, and what else the summary says."""
    parts = []
    if lead.answer is not None:
        bare = lead.answer.model_copy(update={"text": ""})
        text = _escaped_line(readable_text(lead.answer.text))
        parts += [f"**{text}**{_with_marks(bare).rstrip()}", ""]
    if lead.confidence:
        parts += [f"*{_escaped_line(lead.confidence)}*", ""]
    return [*parts, *([*_lines(lead.summary), ""] if lead.summary else [])]


def _findings(findings: Sequence[ReportStatement]) -> list[str]:
    usual = usual_level(findings)
    lines = (_finding(each, usual) for each in findings)
    return _section("Findings", (*_usual_lines(usual), *lines))


def _usual_lines(usual: UsualLevel) -> tuple[str, ...]:
    """How most findings are supported, as a paragraph; nothing if there is no such level."""
    return (f"*{usual.line}*", "") if usual.line else ()


def _finding(finding: ReportStatement, usual: UsualLevel) -> str:
    level = usual.unlike(finding)
    return f"- {_with_marks(finding)}" + (f" ({level})" if level else "")


def _evidence(report: Report) -> list[str]:
    """Return the table of evidence."""
    usual = _usual_lines(usual_level(report.findings))
    return _section("Evidence", (*usual, *_TABLE_HEAD, *map(_row, evidence_rows(report))))


def _row(row: EvidenceRow) -> str:
    quotes = " ".join(
        f"“{_quote(each)}” [{each.mark}]" if row.adds(each) else f"[{each.mark}]"
        for each in row.citations
    )
    sources = "; ".join(map(_escaped_line, row.titles))
    cells = (
        str(row.step),
        _escaped_line(readable_text(row.finding.text)),
        quotes,
        sources,
        row.support,
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    content = list(lines)
    return [f"## {title}", "", *content, ""] if content else []


def _list(lines: Iterable[str]) -> Iterator[str]:
    return (f"- {_escaped_line(line)}" for line in lines)


def _possible(possible: PossibleValue) -> str:
    about, value = _escaped_line(about_text(possible)), _escaped_line(possible.value)
    return f"- {about} {value} ({_escaped_line(possible_text(possible))})"


def _nearest(passage: NearestPassage) -> str:
    place = _escaped_line(f"{passage.title}, {passage.address}", may_link=True)
    return f"- “{_escaped_line(readable_text(passage.quote))}” ({place})"


def _lines(statements: tuple[ReportStatement, ...]) -> list[str]:
    """Return the statements as one paragraph."""
    return [" ".join(_with_marks(statement) for statement in statements)] if statements else []


def _with_marks(statement: ReportStatement) -> str:
    marks = "".join(f"[{mark}]" for mark in statement.marks)
    return f"{_escaped_line(readable_text(statement.text))} {marks}".rstrip()


def _conclusion(conclusion: ReportConclusion) -> str:
    text = confidence_text(conclusion)
    return f"- {_with_marks(conclusion)}" + (f" ({_escaped_line(text)})" if text else "")


def _contradiction(contradiction: ReportContradiction) -> str:
    one, other = _with_marks(contradiction.one), _with_marks(contradiction.other)
    return f"- {one} Against it: {other} ({settlement_text(contradiction)})"


def _figure(figure: ReportFigure, address: FigureAddress) -> str:
    title = _escaped_line(figure.title).replace("]", "\\]")
    shown = f"![{title}]({address(figure) or _figure_id_address(figure)})"
    caption = f"\n\n*{_escaped_line(caption_text(figure))}*"
    return f"{shown}{caption}\n"


def _document(document: CitedDocument, *, with_quotes: bool) -> str:
    place = _escaped_line(document.place, may_link=True)
    lines = [f"- **{_escaped_line(document.title)}** ({place})"]
    for each in document.citations:
        lines.append(f"  - [{each.mark}] {_escaped_line(passage_place(each), may_link=True)}")
        # A bundle without the texts of its sources has no quotes.
        lines += [f"    > {_quote(each)}"] if with_quotes and each.quote else []
    return "\n".join(lines)


def _quote(citation: Citation) -> str:
    return _escaped_line(readable_text(citation.quote))


def _escaped_line(text: str, *, may_link: bool = False) -> str:
    """Return the text on one line, without Markdown markup and terminal control characters.

    Renderers make links of bare addresses, so a word with one becomes code, unless it `may_link`.
    """
    words = single_line(text).split()
    line = " ".join(
        f"`{word.replace('`', chr(39))}`" if _is_link(word) and not may_link else _escaped(word)
        for word in words
    )
    # At the start of a line these would open a heading, a quote, a list or a rule.
    return f"\\{line}" if line.startswith(("#", ">", "-", "+", "=")) else _LIST.sub(r"\1\\\2", line)


def _is_link(word: str) -> bool:
    """True if a renderer may make a link of the word: an address or a mention."""
    folded = word.casefold()
    return any(sign in folded for sign in _LINK_SIGNS)


def _escaped(word: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", word)
