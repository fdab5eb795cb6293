"""Tests for words, sentences and their laws."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.text.sentences import sentence_spans, trimmed_span
from holdfast.models.text.words import shared_share, word_similarity, words_of

pieces = st.sampled_from(["Dr.", "no.", *"aB1é_ .!?…\"')\n\t"]) | st.characters()
prose = st.lists(pieces, max_size=100).map("".join)
words = st.frozensets(st.text(max_size=3), max_size=6)


@given(prose)
@pytest.mark.slow
def test_every_character_but_white_space_is_in_exactly_one_sentence(text: str) -> None:
    spans = sentence_spans(text)

    inside = "".join(text[start:end] for start, end in spans)
    assert "".join(inside.split()) == "".join(text.split())
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert all("\n" not in text[start:end] for start, end in spans)


@given(prose)
def test_a_sentence_is_one_sentence(text: str) -> None:
    for start, end in sentence_spans(text):
        assert sentence_spans(text[start:end]) == [(0, end - start)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rained. Ada left.", ["It rained.", "Ada left."]),
        ("It is 3.5 m tall! Why?", ["It is 3.5 m tall!", "Why?"]),
        ('He said "Go." Then he left', ['He said "Go."', "Then he left"]),
        ("A line\nanother one", ["A line", "another one"]),
        ("Wait... (really?) yes", ["Wait...", "(really?)", "yes"]),
        ("Dr. Vane wrote. Ms. Ito read it.", ["Dr. Vane wrote.", "Ms. Ito read it."]),
        ("He lives at 5 Elm Dr. The house is new.", ["He lives at 5 Elm Dr.", "The house is new."]),
        ("Mr. and Mrs. Vane left. Dr. Theo sat.", ["Mr. and Mrs. Vane left.", "Dr. Theo sat."]),
        ("Policy No. 7 ends. Plot No. 2.", ["Policy No. 7 ends.", "Plot No. 2."]),
        ("He saw the Dr. by noon", ["He saw the Dr.", "by noon"]),
        ("Signed, Dr.\nVane", ["Signed, Dr.", "Vane"]),
        ("Policy no. AM-77 ends. Plot no. 2.", ["Policy no. AM-77 ends.", "Plot no. 2."]),
        ("Was it? No. 14 left", ["Was it?", "No.", "14 left"]),
        ("The answer is no. We left.", ["The answer is no.", "We left."]),
        ("The answer was no. 12 left.", ["The answer was no.", "12 left."]),
        (" \n ", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


def test_a_long_run_of_marks_is_split_in_linear_time() -> None:
    text = "." * 200_000 + "x" + "'" * 200_000

    assert sentence_spans(text) == [(0, len(text))]


@given(st.text(max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_trimming_a_span_drops_white_space_only(text: str, start: int, end: int) -> None:
    start, end = sorted((min(start, len(text)), min(end, len(text))))

    left, right = trimmed_span(text, start, end)

    assert start <= left <= right <= end
    assert text[left:right] == text[start:end].strip()


@given(prose, prose)
def test_the_words_of_two_texts_are_the_words_of_both(one: str, other: str) -> None:
    assert words_of(f"{one} {other}") == words_of(one) | words_of(other)


@given(prose, st.integers(1, 5))
@pytest.mark.slow
def test_short_words_can_be_left_out(text: str, least: int) -> None:
    assert words_of(text, least) == {word for word in words_of(text) if len(word) >= least}


def test_case_and_underscores_make_no_other_word() -> None:
    assert words_of("Place_of BIRTH, 1911") == {"place", "of", "birth", "1911"}


@given(words, words)
def test_overlap_is_between_none_and_all(one: frozenset[str], other: frozenset[str]) -> None:
    assert 0 <= word_similarity(one, other) == word_similarity(other, one) <= 1
    assert 0 <= shared_share(one, other) <= 1
    assert word_similarity(one, one) == shared_share(one, one) == (1 if one else 0)
    assert (shared_share(one, other) == 0) == (not one & other)
