"""The report as Markdown or as a page; marks lead to the passages they rest on."""

from collections.abc import Iterable
from html import escape

from models.evidence import Citation, Report, ReportStatement

_STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem;
       color: #1d2330; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; color: #35507a; }
a.mark { font-size: .75em; vertical-align: super; text-decoration: none; color: #35507a; }
ol.sources li { margin-bottom: .8rem; } blockquote { margin: .2rem 0; color: #444; }
.place, footer { color: #6a7180; font-size: .85rem; }
@media (prefers-color-scheme: dark) {
  body { color: #e4e7ee; background: #14171d; } h2, a.mark { color: #9db8e8; }
  blockquote { color: #b9bfcc; } }
"""


def to_markdown(report: Report) -> str:
    """The report as Markdown, with a numbered list of sources at the end."""
    parts = [f"# {_plain(report.question)}", ""]
    parts += [" ".join(_with_marks(each) for each in report.summary), ""]
    if report.findings:
        parts += ["## Findings", "", *(f"- {_with_marks(each)}" for each in report.findings), ""]
    if report.gaps:
        parts += ["## Gaps", "", *(f"- {_plain(gap)}" for gap in report.gaps), ""]
    if report.citations:
        parts += ["## Sources", "", *(_source(each) for each in report.citations), ""]
    parts.append(f"*Written by {_plain(report.model)}.*")
    return "\n".join(parts).rstrip() + "\n"


def to_html(report: Report) -> str:
    """The report as one page that needs nothing else: no script, no foreign address."""
    body = [f"<h1>{escape(report.question)}</h1>", f"<p>{_html_all(report.summary)}</p>"]
    if report.findings:
        items = "".join(f"<li>{_html(each)}</li>" for each in report.findings)
        body.append(f"<h2>Findings</h2><ul>{items}</ul>")
    if report.gaps:
        items = "".join(f"<li>{escape(gap)}</li>" for gap in report.gaps)
        body.append(f"<h2>Gaps</h2><ul>{items}</ul>")
    if report.citations:
        items = "".join(_html_source(each) for each in report.citations)
        body.append(f'<h2>Sources</h2><ol class="sources">{items}</ol>')
    body.append(f"<footer>Written by {escape(report.model)}.</footer>")
    head = f"<meta charset='utf-8'><title>{escape(report.question[:120])}</title>"
    view = "<meta name='viewport' content='width=device-width'>"
    content = "\n".join(body)
    return (
        f"<!doctype html>\n<html lang='en'><head>{head}{view}<style>{_STYLE}</style></head>\n"
        f"<body>\n{content}\n</body></html>\n"
    )


def _with_marks(statement: ReportStatement) -> str:
    marks = "".join(f"[{mark}]" for mark in statement.marks)
    return f"{_plain(statement.text)} {marks}".rstrip()


def _source(citation: Citation) -> str:
    quote = _plain(" ".join(citation.quote.split()))
    return f"{citation.mark}. {_plain(citation.title)} ({_plain(_place(citation))})\n   > {quote}"


def _place(citation: Citation) -> str:
    heading = f", {citation.heading}" if citation.heading else ""
    return f"{citation.address}{heading}, characters {citation.start}-{citation.end}"


def _plain(text: str) -> str:
    """Text on one line in which Markdown finds nothing to interpret as HTML, a link or a mark."""
    line = " ".join(text.split())
    for sign in "\\`<[":
        line = line.replace(sign, f"\\{sign}")
    # At the start of a line these would open a heading, a quote or a list.
    return f"\\{line}" if line.startswith(("#", ">", "-", "+", "*")) else line


def _html_all(statements: Iterable[ReportStatement]) -> str:
    return " ".join(_html(each) for each in statements)


def _html(statement: ReportStatement) -> str:
    marks = (f'<a class="mark" href="#source-{n}">[{n}]</a>' for n in statement.marks)
    return escape(statement.text) + "".join(marks)


def _html_source(citation: Citation) -> str:
    return (
        f'<li id="source-{citation.mark}" value="{citation.mark}"><b>{escape(citation.title)}</b>'
        f"<blockquote>{escape(citation.quote)}</blockquote>"
        f'<span class="place">{escape(_place(citation))}</span></li>'
    )
