"""Tests that passages contain all of a text but its headings, verbatim, once, and in bounded size."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.tools.documents.passage_splitter import MAX_CHARS, find_headings, split_passages
from tests.support.long_parameters import mostly_long
from tests.support.services.processor_time import processor_s

_LINES = st.one_of(
    st.sampled_from(
        [
            "",
            "# One",
            "## Two ##",
            "   ### Three",
            "#none",
            "====",
            "---",
            "```",
            "~~~",
            "| a | b |",
        ]
    ),
    st.text(alphabet="ab .!?\t é。", max_size=60),
    st.integers(1, 400).map(lambda n: "Some words. " * n),
    st.integers(1, 5000).map(lambda n: "x" * n),
)
_TEXTS = st.one_of(st.lists(_LINES, max_size=30).map("\n".join), st.text(max_size=400))


def _is_of_a_heading(text: str, place: int) -> bool:
    return any(heading.start <= place < heading.end for heading in find_headings(text))


@given(_TEXTS)
@example("# Only\n## Headings")
@example("x" * 4000)
def test_every_letter_outside_headings_is_in_exactly_one_passage(text: str) -> None:
    passages = split_passages(text)

    times = [0] * len(text)
    for passage in passages:
        for place in range(passage.start, passage.end):
            times[place] += 1
    assert max(times, default=0) <= 1
    missed = [n for n, letter in enumerate(text) if not times[n] and not letter.isspace()]
    assert all(_is_of_a_heading(text, place) for place in missed)


@given(_TEXTS)
def test_passages_are_in_order_trimmed_and_bounded(text: str) -> None:
    passages = split_passages(text)

    assert bool(passages) == bool(text.strip())
    assert list(passages) == sorted(passages, key=lambda passage: passage.start)
    for passage in passages:
        piece = text[passage.start : passage.end]
        assert piece
        assert piece == piece.strip()
        assert len(piece) <= MAX_CHARS
        assert len(passage.heading) <= 300


@given(st.lists(st.text("abc ", max_size=200).map("x{}".format), min_size=1, max_size=12))
def test_no_passage_reaches_over_a_heading(bodies: list[str]) -> None:
    text = "\n".join(f"## Part {n}\n{body}" for n, body in enumerate(bodies))

    for passage in split_passages(text):
        part = int(passage.heading.removeprefix("Part "))
        assert text[passage.start : passage.end] in bodies[part]


def test_the_heading_is_the_path_of_headings_above() -> None:
    text = "Before.\n# Guide\nA.\n## Setup\nB.\n### Linux\nC.\n## Use\nD.\n"

    found = [(p.heading, text[p.start : p.end]) for p in split_passages(text)]

    assert found == [
        ("", "Before."),
        ("Guide", "A."),
        ("Guide > Setup", "B."),
        ("Guide > Setup > Linux", "C."),
        ("Guide > Use", "D."),
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Top\n===\n\nSub\n---\nText", ["Top", "Sub"]),
        ("```\n# a comment\n```\n# Real", ["Real"]),
        ("```\n# never closed", []),
        ("---\ntitle: front matter\n---\nText", []),
        ("# \n#hash\n####### seven\n# " + "long " * 100, []),
        ("## Closed ##", ["Closed"]),
    ],
)
def test_headings_are_those_of_markdown(text: str, names: list[str]) -> None:
    assert [heading.text for heading in find_headings(text)] == names


def test_prose_becomes_passages_of_about_120_words() -> None:
    sentence = "The lamp was lit at dusk and put out at dawn by the keeper on watch. "
    text = "\n\n".join(sentence * 6 for _ in range(40))

    passages = split_passages(text)

    sizes = [passage.end - passage.start for passage in passages]
    assert 60 <= sum(len(text[p.start : p.end].split()) for p in passages) / len(passages) <= 180
    assert max(sizes) <= 900


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    text = "This is a sentence of the long paragraph. " * 100

    passages = split_passages(text)

    assert len(passages) > 1
    assert all(text[p.start : p.end].endswith("paragraph.") for p in passages)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    mostly_long(
        [
            "word " * 1_000_000,
            "x" * 5_000_000,
            "." * 5_000_000,
            '.")' * 1_500_000,
            "\n" * 5_000_000 + "x",
            "#" + " " * 2_500_000 + "x" * 2_500_000,
            ("# H\n" + "text\n") * 500_000,
            "=\n" * 2_500_000,
            "```\n" * 1_000_000,
            " " * 5_000_000 + ".",
            ". " * 2_500_000,
            "A paragraph of a few words. And one more sentence in it.\n\n" * 80_000,
        ],
        usual=4,
    ),
    ids=lambda text: re.sub(r"\s", "_", text[:8]),
)
def test_five_megabytes_of_anything_take_seconds(text: str) -> None:
    assert processor_s(lambda: split_passages(text)) < 15
