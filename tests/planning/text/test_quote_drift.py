"""Tests whether quoted words are still present in a document that is read again."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.evidence.source_checks import SourceDrift
from holdfast.planning.text.quote_comparison import find_quote_drift

QUOTE = "The fog horn cost 400 crowns."


def document(*texts: str, at: int = 0) -> list[SourcePassage]:
    passages, start = [], at
    for text in texts:
        passages.append(SourcePassage(address="a", text=text, start=start, end=start + len(text)))
        start += len(text) + 1
    return passages


def test_words_at_their_place_are_unchanged_however_they_are_wrapped_or_cut() -> None:
    for texts in (
        ["Old. " + QUOTE],
        ["Old. The  fog\nhorn cost 400\tcrowns."],
        ["Old.", QUOTE],
        ["Old. The fog horn", "cost 400 crowns. More."],
    ):
        assert find_quote_drift(QUOTE, 5, document(*texts)).verdict is SourceDrift.UNCHANGED


def test_words_elsewhere_have_moved_and_it_is_said_where() -> None:
    found = find_quote_drift(QUOTE, 5, document("Something new. " + QUOTE))

    assert found.verdict is SourceDrift.MOVED
    assert "characters 15-44" in found.note


def test_other_words_have_changed_and_the_nearest_are_shown() -> None:
    found = find_quote_drift(
        QUOTE, 0, document("It was loud.\nThe fog horn cost 900 crowns. It rusted.")
    )

    assert (found.verdict, found.nearest) == (SourceDrift.CHANGED, "The fog horn cost 900 crowns.")
    assert find_quote_drift(QUOTE, 0, document("Quite another thing")).nearest == ""


def test_a_document_without_text_is_gone() -> None:
    assert find_quote_drift(QUOTE, 0, []).verdict is SourceDrift.GONE
    assert find_quote_drift(QUOTE, 0, document(" \n")).verdict is SourceDrift.GONE


@given(st.text(min_size=1).filter(str.strip), st.text(), st.text(), st.integers(0, 5))
def test_a_quote_is_found_in_whatever_it_was_cut_from(
    quote: str, before: str, after: str, cut: int
) -> None:
    whole = before + quote + after
    pieces = [
        SourcePassage(address="a", text=whole[i:j], start=i, end=j)
        for i, j in ((0, cut), (cut, len(whole)))
    ]

    found = find_quote_drift(quote, len(before), pieces)

    assert found.verdict in (SourceDrift.UNCHANGED, SourceDrift.MOVED)
