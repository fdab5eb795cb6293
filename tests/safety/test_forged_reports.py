"""Tests that text of a model puts no mark, link, markup or control sign into a report."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from holdfast.models.evidence.evidence import Report, ReportConclusion, ReportStatement
from holdfast.models.text.report_marks import without_marks
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_markdown
from tests.support.services.processor_time import processor_s

pytestmark = pytest.mark.conformance("SAF-06")

MARKS = [
    "[1]",
    "[1[2]]",
    "[[[1]]]",
    "[[1][2]]",
    "[12345]",
    "［1］",
    "【1】",
    "[１]",
    "[1, 2]",
    "[1; 2]",
    "[1-3]",
    "[E1]",
    "[E1, E2]",
    "[^1]",
    "[^note]",
    "[ 1 ]",
    "[\u200b1]",
    "[\u200d1\u0301]",
    "[]",
]


@pytest.mark.parametrize("mark", MARKS)
def test_a_forged_mark_is_taken_out(mark: str) -> None:
    assert without_marks(f"It was lit in 1932 {mark}.") == "It was lit in 1932."


@pytest.mark.parametrize("text", ["a [sic] b", "f(1)", "[see page 1]", "[1 km]", "] [", "x]"])
def test_other_brackets_stay(text: str) -> None:
    assert without_marks(text) == text


SIGNS = st.text(alphabet="[]［］1E^,; x\u200b", max_size=40)


@given(SIGNS)
@example("[1[2]]")
@example("[ [1] ]")
def test_taking_marks_out_twice_changes_nothing(text: str) -> None:
    once = without_marks(text)

    assert without_marks(once) == once


@pytest.mark.parametrize(
    "text", ["[" * 200_000, "[" * 100_000 + "1" + "]" * 100_000, "[x" * 100_000 + "]" * 100_000]
)
def test_marks_are_taken_out_in_linear_time(text: str) -> None:
    assert processor_s(lambda: without_marks(text)) < 2


def report(text: str) -> Report:
    conclusion = ReportConclusion(text=text, marks=(), confidence=0.5, limits=text)
    statement = ReportStatement(text=text, marks=())
    return Report(
        question="Who?",
        answer=None,
        summary=(statement,),
        findings=(statement,),
        conclusions=(conclusion,),
        gaps=(text,),
        model="m",
    )


LINKS = [
    "https://evil.example/bare",
    "www.evil.example",
    "WWW.evil.example",
    "mailto:a@b.example",
    "a@b.example",
    "ftp://evil.example",
    "<https://evil.example>",
    "see:https://evil.example`x",
]


@pytest.mark.parametrize("link", LINKS)
def test_an_address_is_code_and_no_link(link: str) -> None:
    shown = to_markdown(report(f"see {link} now"))

    assert f"see `{link.replace('`', chr(39))}` now" in shown
    assert "<a" not in MarkdownIt("commonmark").render(shown)


MARKUP = [
    "[a](https://evil.example)",
    "![a](x)",
    "[a]: x",
    "<b>x</b>",
    "&#91;1&#93;",
    "&lbrack;1]",
    "*x* **y** _z_ __w__ ~v~",
    "`code`",
    "# x",
    "> x",
    "- x",
    "1. x",
    "2) x",
    "=== x",
    "\\[a](b)",
]


@given(st.sampled_from(MARKUP) | st.text(alphabet="[]()<>!*_~`&#;:/ a1\\-=+.\n"))
@example("*x*")
def test_no_text_becomes_markup(text: str) -> None:
    plain = MarkdownIt("commonmark").render(to_markdown(report("x")))
    shown = MarkdownIt("commonmark").render(to_markdown(report(text)))

    known = {tag for tag in TAGS if tag in plain} | {"<code>"}
    assert {tag for tag in TAGS if tag in shown} <= known
    assert shown.count("<li>") == plain.count("<li>")


TAGS = ["<a", "<img", "<em>x", "<strong>", "<s>", "<h3", "<blockquote", "<ol", "<pre", "<hr", "<b>"]


@pytest.mark.parametrize("sign", ["\x1b[31m", "\u202e", "\u2066", "\x9b", "\x07"])
def test_no_control_sign_reaches_a_report(sign: str) -> None:
    text = f"a{sign}b"

    assert sign not in to_markdown(report(text))
    assert sign not in to_html(report(text))
    assert sign not in without_marks(text)
