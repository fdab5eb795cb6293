"""The report as Markdown, as a page or as JSON; marks lead to the passages they rest on."""

from collections.abc import Callable, Iterable
from html import escape

from pydantic import JsonValue

from holdfast.cover import confidence_line, cover_lines, gate_lines
from models.evidence import BothSides, Citation, Conclusion, Report, ReportStatement
from models.figures import ReportFigure
from models.text import one_line

Address = Callable[[ReportFigure], str | None]
"""Where a figure's image is; none where it may not be shown."""

_STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem;
       color: #1d2330; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; color: #35507a; }
a.mark { font-size: .75em; vertical-align: super; text-decoration: none; color: #35507a; }
ol.sources li { margin-bottom: .8rem; } blockquote { margin: .2rem 0; color: #444; }
.place, footer { color: #6a7180; font-size: .85rem; }
figure { margin: 1rem 0; } figure img { max-width: 100%; background: #fff; }
.warning { border-left: 4px solid #b3261e; padding-left: .8rem; }
@media (prefers-color-scheme: dark) {
  body { color: #e4e7ee; background: #14171d; } h2, a.mark { color: #9db8e8; }
  blockquote { color: #b9bfcc; } }
"""


def _by_name(figure: ReportFigure) -> str:
    return f"figure:{figure.id}"


def _nowhere(_: ReportFigure) -> None:
    return None


def to_markdown(report: Report, address: Address = _by_name) -> str:
    """The report as Markdown, with a numbered list of sources at the end.

    A figure's address is `figure:ID` where nobody says better.
    """
    parts = [f"# {_plain(report.question)}", ""]
    parts += [f"> **Warning:** {_plain(each)}\n" for each in report.warnings]
    parts += [" ".join(_with_marks(each) for each in report.summary), ""]
    parts += _section("Findings", (f"- {_with_marks(each)}" for each in report.findings))
    parts += _section("Analysis", _lines(report.analysis))
    parts += _section("Figures", (_figure(each, address) for each in report.figures))
    parts += _section("Conclusions", (_conclusion(each) for each in report.conclusions))
    parts += _section("Contradictions", (_contradiction(each) for each in report.contradictions))
    parts += _section("Gaps", (f"- {_plain(gap)}" for gap in report.gaps))
    parts += _section("Sources", (_source(each) for each in report.citations))
    parts += _section("How it was checked", (f"- {_plain(each)}" for each in _checks(report)))
    parts.append(f"*Written by {_plain(report.model)}.*")
    return "\n".join(parts).rstrip() + "\n"


def to_html(report: Report, address: Address = _nowhere) -> str:
    """The report as one page that needs nothing else: no script, no foreign address.

    A figure without an address is named, and not shown.
    """
    body = [f"<h1>{escape(report.question)}</h1>"]
    body += [f'<p class="warning"><b>Warning:</b> {escape(each)}</p>' for each in report.warnings]
    body += [f"<p>{_html_all(report.summary)}</p>"]
    body += _html_list("Findings", (_html(each) for each in report.findings))
    if report.analysis:
        body.append(f"<h2>Analysis</h2><p>{_html_all(report.analysis)}</p>")
    if report.figures:
        drawn = "".join(_html_figure(each, address(each)) for each in report.figures)
        body.append(f"<h2>Figures</h2>{drawn}")
    body += _html_list("Conclusions", (_html_conclusion(each) for each in report.conclusions))
    body += _html_list("Contradictions", (_html_sides(each) for each in report.contradictions))
    body += _html_list("Gaps", (escape(gap) for gap in report.gaps))
    if report.citations:
        items = "".join(_html_source(each) for each in report.citations)
        body.append(f'<h2>Sources</h2><ol class="sources">{items}</ol>')
    body += _html_list("How it was checked", (escape(each) for each in _checks(report)))
    body.append(f"<footer>Written by {escape(report.model)}.</footer>")
    head = f"<meta charset='utf-8'><title>{escape(report.question[:120])}</title>"
    view = "<meta name='viewport' content='width=device-width'>"
    content = "\n".join(body)
    return (
        f"<!doctype html>\n<html lang='en'><head>{head}{view}<style>{_STYLE}</style></head>\n"
        f"<body>\n{content}\n</body></html>\n"
    )


def to_json(report: Report) -> dict[str, JsonValue]:
    """All of the report, and the names of VMAO's: answer, key_findings, confidence, sources, gaps.

    `key_findings` are the findings with their sources' numbers, `sources` what the report cites,
    once per source.
    """
    content: dict[str, JsonValue] = report.model_dump(mode="json")
    marks: dict[int, list[int]] = {}
    for each in report.citations:
        marks.setdefault(each.source_id, []).append(each.mark)
    once = {each.source_id: each for each in reversed(report.citations)}
    sources: list[JsonValue] = [
        {
            "source_id": each.source_id, "title": each.title, "heading": each.heading,
            "date": each.date, "address": each.address, "via": each.via,
            "sha256": each.sha256, "marks": list(marks[each.source_id]),
        }
        for each in sorted(once.values(), key=lambda each: each.mark)
    ]  # fmt: skip
    return content | {"key_findings": content["findings"], "sources": sources}


def _checks(report: Report) -> list[str]:
    found = []
    if report.cover is not None:
        found += [*confidence_line(report), *cover_lines(report.cover), *gate_lines(report.gates)]
    if report.rechecked_at is not None:
        found.append(
            f"Its sources were last read again on {report.rechecked_at:%Y-%m-%d %H:%M %Z}."
        )
    return found


def _section(title: str, lines: Iterable[str]) -> list[str]:
    found = list(lines)
    return [f"## {title}", "", *found, ""] if found else []


def _lines(statements: tuple[ReportStatement, ...]) -> list[str]:
    """The statements as one paragraph."""
    return [" ".join(_with_marks(each) for each in statements)] if statements else []


def _with_marks(statement: ReportStatement) -> str:
    marks = "".join(f"[{mark}]" for mark in statement.marks)
    return f"{_plain(statement.text)} {marks}".rstrip()


def _conclusion(each: Conclusion) -> str:
    return f"- {_with_marks(each)} ({_plain(_sure(each))})"


def _sure(each: Conclusion) -> str:
    limits = f"; {each.limits}" if each.limits else ""
    return f"confidence {each.confidence:.0%}{limits}"


def _contradiction(each: BothSides) -> str:
    return f"- {_with_marks(each.one)} Against it: {_with_marks(each.other)} ({_settled(each)})"


def _settled(each: BothSides) -> str:
    return f"settled by {each.settled_by}" if each.settled_by else "not settled"


def _figure(figure: ReportFigure, address: Address) -> str:
    title = _plain(figure.title).replace("]", "\\]")
    shown = f"![{title}]({address(figure) or _by_name(figure)})"
    caption = f"\n\n*{_plain(_caption(figure))}*"
    return f"{shown}{caption}\n"


def _caption(figure: ReportFigure) -> str:
    said = f"{figure.caption} " if figure.caption else ""
    return f"{said}(figure {figure.id}, drawn by {figure.tool} in {figure.task})"


def _html_figure(figure: ReportFigure, address: str | None) -> str:
    image = ""
    if address is not None:
        image = f'<img src="{escape(address)}" alt="{escape(figure.title)}">'
    words = f'<b>{escape(figure.title)}</b> <span class="place">{escape(_caption(figure))}</span>'
    return f"<figure>{image}<figcaption>{words}</figcaption></figure>"


def _source(citation: Citation) -> str:
    quote = _plain(" ".join(citation.quote.split()))
    place = f"{citation.mark}. {_plain(citation.title)} ({_plain(_place(citation))})"
    return f"{place}, {_numbers(citation)}\n   > {quote}"


def _numbers(citation: Citation) -> str:
    return f"evidence {citation.evidence_id} of source {citation.source_id}"


def _place(citation: Citation) -> str:
    parts = [citation.address, citation.heading, citation.date[:10]]
    parts += [f"via {citation.via}" if citation.via else ""]
    parts += [f"characters {citation.start}-{citation.end}"]
    return ", ".join(part for part in parts if part)


def _plain(text: str) -> str:
    """Text on one line in which neither Markdown nor a terminal finds anything to interpret."""
    line = " ".join(one_line(text).split())
    for sign in "\\`<[":
        line = line.replace(sign, f"\\{sign}")
    # At the start of a line these would open a heading, a quote or a list.
    return f"\\{line}" if line.startswith(("#", ">", "-", "+", "*")) else line


def _html_list(title: str, items: Iterable[str]) -> list[str]:
    found = "".join(f"<li>{item}</li>" for item in items)
    return [f"<h2>{title}</h2><ul>{found}</ul>"] if found else []


def _html_all(statements: Iterable[ReportStatement]) -> str:
    return " ".join(_html(each) for each in statements)


def _html(statement: ReportStatement) -> str:
    marks = (f'<a class="mark" href="#source-{n}">[{n}]</a>' for n in statement.marks)
    return escape(statement.text) + "".join(marks)


def _html_conclusion(each: Conclusion) -> str:
    return f'{_html(each)} <span class="place">({escape(_sure(each))})</span>'


def _html_sides(each: BothSides) -> str:
    settled = f'<span class="place">({escape(_settled(each))})</span>'
    return f"{_html(each.one)} Against it: {_html(each.other)} {settled}"


def _html_source(citation: Citation) -> str:
    place = f"{_place(citation)}, {_numbers(citation)}"
    return (
        f'<li id="source-{citation.mark}" value="{citation.mark}"><b>{escape(citation.title)}</b>'
        f"<blockquote>{escape(citation.quote)}</blockquote>"
        f'<span class="place">{escape(place)}</span></li>'
    )
