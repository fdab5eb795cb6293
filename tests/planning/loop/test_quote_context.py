"""Tests that a quote is widened to its sentence, its table row with header, or its list item."""

import pytest

from holdfast.planning.loop.quote_context import widened_quotes

PROSE = "Ada Lindqvist was a designer. Born in Malmo, she studied in Lund. She left in 1911."
TABLE = (
    "Ships of the yard\n\n| ship | built |\n| --- | --- |\n| Heron | 1870 |\n| Osprey | 1874 |\n"
)
CUT_TABLE = "| Heron | 1870 |\n| Osprey | 1874 |\n| Tern | 1880 |\n"
WRAPPED = "The key is a hash. If the ledger has an answer,\nit is used and nothing\nis called. Only then.\n"
UNITS = (
    "Trade grew. The figures\nare tons a year.\n\n| year | Heron |\n| --- | --- |\n| 1870 | 38 |\n"
)
WRAPPED_LIST = (
    "What is tried:\n\n- Models get text as JSON, so that the text would\n  have to break JSON. No role\n"
    "  obeys it.\n- Terminals get no\n  control characters.\n"
)
LIST = "The bridge needs:\n\n- 40 tons of steel\n- two towers\n"


@pytest.mark.parametrize(
    ("text", "quote", "widened"),
    [
        (
            PROSE,
            "Born in Malmo",
            "Ada Lindqvist was a designer. Born in Malmo, she studied in Lund.",
        ),
        (TABLE, "1874", "Ships of the yard\n| ship | built |\n| Osprey | 1874 |"),
        (
            UNITS,
            "| 1870 | 38 |",
            "The figures are tons a year.\n| year | Heron |\n| 1870 | 38 |",
        ),
        (CUT_TABLE, "1874", "| Osprey | 1874 |"),
        (
            WRAPPED,
            "is used and nothing",
            "The key is a hash. If the ledger has an answer, it is used and nothing is called.",
        ),
        (LIST, "two towers", "The bridge needs:\n- two towers"),
        (
            WRAPPED_LIST,
            "have to break",
            (
                "What is tried:\n- Models get text as JSON, so that the text would have to break "
                "JSON. No role obeys it."
            ),
        ),
        (WRAPPED_LIST, "control", "What is tried:\n- Terminals get no control characters."),
    ],
)
def test_a_quote_gets_what_names_its_subject(text: str, quote: str, widened: str) -> None:
    start = text.index(quote)

    assert widened_quotes(text, [(start, start + len(quote))]) == widened


def test_a_long_sentence_is_cut_around_the_quote() -> None:
    text = "x " * 5_000 + "the point " + "y " * 5_000
    start = text.index("the point")

    widened = widened_quotes(text, [(start, start + 9)])

    assert "the point" in widened
    assert len(widened) < 1_000


@pytest.mark.parametrize("line", ["- {} end\n", "| a | {} |\n"])
def test_a_long_item_or_row_is_cut_around_the_quote(line: str) -> None:
    text = line.format("x " * 5_000 + "the point " + "y " * 5_000)
    start = text.index("the point")

    widened = widened_quotes(text, [(start, start + 9)])

    assert "the point" in widened
    assert len(widened) < 1_000


@pytest.mark.parametrize(
    ("text", "quotes", "widened"),
    [
        (PROSE, ("She left in 1911", "Ada Lindqvist was", "Born in Malmo"), PROSE),
        (
            TABLE,
            ("1874", "1870"),
            "Ships of the yard\n| ship | built |\n| Heron | 1870 |\n| Osprey | 1874 |",
        ),
        (LIST, ("two towers", "40 tons"), "The bridge needs:\n- 40 tons of steel\n- two towers"),
    ],
)
def test_quotes_that_share_words_are_shown_once(
    text: str, quotes: tuple[str, ...], widened: str
) -> None:
    spans = [(text.index(each), text.index(each) + len(each)) for each in quotes]

    assert widened_quotes(text, spans) == widened


def test_cut_sentences_that_overlap_are_shown_once() -> None:
    text = f"{'x ' * 300}first point {'y ' * 100}second point {'z ' * 300}"
    spans = [(text.index(each), text.index(each) + len(each)) for each in ("first", "second")]

    widened = widened_quotes(text, spans)

    assert widened.count("first point") == widened.count("second point") == 1
