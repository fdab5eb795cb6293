"""Lay out a report as sections of lines, for documents that are no web page."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.models.calls.tool_figures import ReportFigure
from holdfast.models.evidence.evidence import Report, ReportStatement
from holdfast.models.text.terminal_text import single_line
from holdfast.reports.check_summary import author_line, check_lines, stage_lines
from holdfast.reports.evidence_table import evidence_rows
from holdfast.reports.readable_quotes import readable_text
from holdfast.reports.report_text import (
    NOT_STATED,
    about_text,
    confidence_text,
    origin_line,
    possible_text,
    settlement_text,
    shown_gaps,
)
from holdfast.reports.short_answer import short_answer
from holdfast.reports.source_list import CitedDocument, cited_documents
from holdfast.reports.usual_level import usual_level


class Line(NamedTuple):
    """A sentence with its marks, and a note that is less important."""

    text: str
    marks: tuple[int, ...] = ()
    note: str = ""
    is_strong: bool = False


class Section(NamedTuple):
    """Lines below a title; one without a title begins the report or goes on with the last."""

    title: str
    lines: tuple[Line, ...]
    is_list: bool = True


class ReportOutline(NamedTuple):
    """A report in reading order."""

    title: str
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]
    figures: tuple[ReportFigure, ...]
    documents: tuple[CitedDocument, ...]
    appendix: tuple[Section, ...]
    """How the report was checked and made."""
    origin: str


def report_outline(report: Report) -> ReportOutline:
    """Return the parts of the report without those that have nothing to say."""
    lead = short_answer(report)
    answer = [] if lead.answer is None else [_line(lead.answer, is_strong=True)]
    sure = [Line("", note=lead.confidence)] if lead.confidence else []
    sides = (
        line
        for each in report.contradictions
        for line in (_line(each.one), _line(each.other, note=settlement_text(each)))
    )
    sections = (
        Section("", (*answer, *sure, *map(_line, lead.summary)), is_list=False),
        *_findings(lead.findings),
        Section("Analysis", tuple(map(_line, lead.analysis)), is_list=False),
        Section("Conclusions", tuple(_line(e, note=confidence_text(e)) for e in lead.conclusions)),
        Section("Contradictions", tuple(sides)),
        Section(
            "Possible, but not proven",
            tuple(
                Line(f"{about_text(e)} {e.value}", note=possible_text(e)) for e in report.possible
            ),
        ),
        Section(NOT_STATED if evidence_rows(report) else "Gaps", _lines(shown_gaps(report))),
        Section("What was searched", _lines(report.searches)),
        Section(
            "Nearest passages",
            tuple(
                Line(f"“{readable_text(e.quote)}”", note=f"{e.title}, {e.address}")
                for e in report.nearest
            ),
        ),
        Section("What would help", _lines(report.advice)),
    )
    appendix = (
        Section("How it was checked", _lines(check_lines(report))),
        Section("How it was made", _lines(stage_lines(report))),
    )
    return ReportOutline(
        title=single_line(report.question),
        warnings=report.warnings,
        sections=tuple(each for each in sections if each.lines),
        figures=report.figures,
        documents=cited_documents(report),
        appendix=tuple(each for each in appendix if each.lines),
        origin=f"{author_line(report)} {origin_line(report)}".strip(),
    )


def figure_caption(figure: ReportFigure, *, is_shown: bool) -> str:
    """Return the title and the caption of a figure, and that its image is not shown."""
    caption = f"{figure.title}. {figure.caption}".strip()
    return caption if is_shown else f"{caption} (This document cannot show the image.)"


def _findings(findings: Sequence[ReportStatement]) -> tuple[Section, ...]:
    """The findings, after the line that says once how most of them are supported."""
    usual = usual_level(findings)
    lines = tuple(_line(each, note=usual.unlike(each)) for each in findings)
    if not usual.line:
        return (Section("Findings", lines),)
    return (
        Section("Findings", (Line("", note=usual.line),), is_list=False),
        Section("", lines),
    )


def _line(statement: ReportStatement, *, note: str = "", is_strong: bool = False) -> Line:
    return Line(single_line(readable_text(statement.text)), statement.marks, note, is_strong)


def _lines(texts: Iterable[str]) -> tuple[Line, ...]:
    return tuple(Line(single_line(text)) for text in texts)
