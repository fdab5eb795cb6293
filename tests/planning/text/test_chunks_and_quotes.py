"""Tests for chunks, which keep every character and its place, and for the location of quotes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.planning.text.passage_chunks import split_into_chunks
from holdfast.planning.text.quote_location import (
    best_sentences,
    covering_sentences,
    locate_quote,
    locate_values,
)
from holdfast.planning.text.token_estimates import estimate_tokens

texts = st.text(st.sampled_from("abc de.\n,見é!?\"'"), max_size=400)


def passage(text: str, address: str = "a.md", start: int = 0) -> SourcePassage:
    return SourcePassage(address=address, text=text, start=start, end=start + len(text))


@pytest.mark.conformance("KPI-08")
@given(st.lists(texts, max_size=5), st.integers(5, 60))
def test_chunks_hold_every_character_once_and_in_its_place(bodies: list[str], limit: int) -> None:
    passages = [passage(body, f"{n}.md", start=n * 1000) for n, body in enumerate(bodies)]

    cut = split_into_chunks(passages, limit)

    for n, whole in enumerate(passages):
        pieces = [piece for chunk in cut for piece in chunk if piece.address == f"{n}.md"]
        assert "".join(piece.text for piece in pieces) == whole.text
        for piece in pieces:
            at = piece.start - whole.start
            assert whole.text[at : at + len(piece.text)] == piece.text


@pytest.mark.conformance("KPI-08")
def test_chunks_end_at_natural_borders() -> None:
    paragraphs = [f"Paragraph {n}. " + "It has some words. " * 20 for n in range(8)]

    cut = split_into_chunks([passage("\n\n".join(paragraphs))], 200)

    assert len(cut) > 3
    assert all(chunk[-1].text.endswith(("\n\n", "\n", ". ", " ")) for chunk in cut[:-1])
    assert all(sum(estimate_tokens(p.text) for p in chunk) <= 200 * 1.3 for chunk in cut)


def test_what_fits_is_one_chunk() -> None:
    two = [passage("short"), passage("also short", "b.md")]

    assert split_into_chunks(two, 3000) == (tuple(two),)


@given(texts, st.data())
def test_any_piece_of_a_text_is_located_where_it_stands(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    quote = text[start:end].strip().strip("\"'“”‘’ ")

    found = locate_quote("e", None, quote, [passage(text)])

    if quote:
        assert found is not None
        assert found.quote.split() == quote.split()


@given(st.text(), st.text(max_size=30), st.none() | st.integers() | st.text(max_size=9))
def test_a_located_quote_always_stands_in_its_passage(text: str, quote: str, value: object) -> None:
    found = locate_quote("e", value, quote, [passage(text)])

    assert found is None or (found.quote and found.quote in text)


def test_a_rewrapped_quote_is_found_as_the_source_has_it() -> None:
    found = locate_quote(
        "e", None, "lit in 1911 by  Edda", [passage("It was lit in\n1911 by Edda. So.")]
    )

    assert found is not None
    assert found.quote == "lit in\n1911 by Edda"


def test_without_a_quote_the_sentence_around_the_value_is_taken() -> None:
    text = "Before. The tower is 46 m tall, and Edda built it. After."

    found = locate_quote("e", "Edda", "", [passage("nothing"), passage(text, "b.md")])

    assert found is not None
    assert (found.passage.address, found.quote) == (
        "b.md",
        "The tower is 46 m tall, and Edda built it.",
    )


def test_a_paraphrased_quote_stands_for_the_sentence_with_the_value_that_is_most_like_it() -> None:
    text = "The Dunmarra line opened in 1912. The Dunmarra line had the Guillemot, a small vessel."

    found = locate_quote("line", "Dunmarra line", "its vessel was the Guillemot", [passage(text)])

    assert found is not None
    assert found.quote == "The Dunmarra line had the Guillemot, a small vessel."


def test_each_element_of_a_list_gets_the_sentence_that_shows_it() -> None:
    passages = [
        passage("Brannick and Ellerhow are ports. The Brannick line lost all to the bridge."),
        passage("Ellerhow is small. The Ellerhow line was closed by the bridge.", "b.md"),
    ]

    found = locate_values(
        "lines",
        ["Brannick", "Ellerhow", "Skerra"],
        "The Brannick line lost all to the bridge.",
        passages,
        about="lines closed by the bridge",
    )

    assert [each.quote for each in found] == [
        "The Brannick line lost all to the bridge.",
        "The Ellerhow line was closed by the bridge.",
    ]


def test_a_document_that_is_about_the_value_goes_before_one_that_mentions_it() -> None:
    fares = passage("The lines of the sound: Ellerhow and others, by their operators.", "fares.md")
    line = passage("It rained. Ellerhow had one.", "line.md").model_copy(
        update={"title": "Ellerhow"}
    )

    (found,) = locate_values("lines", ["Ellerhow"], "", [fares, line], about="lines by operators")

    assert found.passage.address == "line.md"


def test_a_value_inside_a_longer_word_is_not_found() -> None:
    assert locate_quote("e", "art", "", [passage("a party started")]) is None
    assert locate_quote("e", "quote", "never said", [passage("nothing here")]) is None


def test_the_sentence_that_shares_most_words_stands_for_a_passage() -> None:
    text = "It rained. The keeper of the light was Ada Brink. He left."

    (found,) = best_sentences("e", "who was keeper of the light", [passage(text)], 3)

    assert found.quote == "The keeper of the light was Ada Brink."


def test_a_passage_gives_a_further_sentence_for_words_that_the_best_one_lacks() -> None:
    table = passage(
        "site: Ashby; places: 18. site: Mellstone; places: 11. site: Corran; places: 6."
    )
    other = passage("The staff of Corran. It rained at Mellstone.", "staff.md")

    found = covering_sentences("e", "places of Mellstone and of Corran", [table, other], 3)

    assert [each.quote for each in found] == [
        "site: Mellstone; places: 11.",
        "site: Corran; places: 6.",
        "The staff of Corran.",
    ]


def test_the_best_sentence_of_a_later_passage_is_not_quoted_twice() -> None:
    places = passage("Mellstone has places.")
    other = passage("It rained. Corran is here.", "corran.md")

    found = covering_sentences("e", "places of Mellstone and of Corran", [places, other], 3)

    assert [each.quote for each in found] == ["Mellstone has places.", "Corran is here."]


@pytest.mark.conformance("REP-06")
def test_each_further_quote_of_a_value_shows_a_part_that_the_quotes_before_leave_out() -> None:
    minutes = passage("Kestrel accepts a delay of one hour. It rained. Kestrel credited £1,500.")
    contract = passage("For each hour Kestrel pays £1,500, at most £30,000 a year.", "c.md")

    found = locate_values(
        "account",
        "A delay of one hour; £1,500 was credited, of at most £30,000",
        "Kestrel accepts a delay of one hour.",
        [minutes, contract],
        more=[
            "Kestrel credited £1,500.",
            "It rained.",
            "Kestrel paid £30,000.",
            "Kestrel credited £1,500.",
            "at most £30,000 a year",
        ],
    )

    assert [(each.passage.address, each.quote) for each in found] == [
        ("a.md", "Kestrel accepts a delay of one hour."),
        ("a.md", "Kestrel credited £1,500."),
        ("c.md", "at most £30,000 a year"),
    ]


@pytest.mark.conformance("REP-06")
def test_a_further_quote_from_another_document_corroborates_the_value() -> None:
    minutes = passage("Kestrel credited £1,500. The board noted the £1,500.")
    contract = passage("The credit is £1,500. The notice is a month.", "c.md")

    found = locate_values(
        "credit",
        "£1,500",
        "Kestrel credited £1,500.",
        [minutes, contract],
        more=["The board noted the £1,500.", "The notice is a month.", "The credit is £1,500."],
    )

    assert [(each.passage.address, each.quote) for each in found] == [
        ("a.md", "Kestrel credited £1,500."),
        ("c.md", "The credit is £1,500."),
    ]
