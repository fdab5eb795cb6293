"""Tests of the rules that prove a loop's sentences: planted faults are refused, true ones pass."""

import pytest

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.loop.loop_functions import AnswerSentence, Cite
from holdfast.models.loop.loop_results import NumberedPassage
from holdfast.planning.loop.answer_proof import ProofGround

QUESTION = "When was the Teal Bridge opened, and by whom?"
TEXTS = (
    "The Teal Bridge was opened on 23 May 1911 by Ada Lindqvist – its designer.",
    "“Nobody **expected** it,” said the mayor’s clerk. It cost\n1,200 crowns.",
    "| ship | built |\n| --- | --- |\n| Osprey | 1874 |",
)
PASSAGES = tuple(
    NumberedPassage(
        number=n,
        source_id=n,
        step_id="T1.1",
        attempt=1,
        passage=SourcePassage(address=f"doc{n}.md", title=f"Document {n}", text=text),
    )
    for n, text in enumerate(TEXTS, start=1)
)


def prove(text: str, *cites: tuple[int, str]) -> str:
    """Why the sentence is refused; empty if it is proven."""
    said = AnswerSentence(text=text, cites=[Cite(passage=n, quote=quote) for n, quote in cites])
    return ProofGround(QUESTION, PASSAGES).prove(said).why


@pytest.mark.conformance("LOOP-03")
@pytest.mark.parametrize(
    ("text", "passage", "quote"),
    [
        (
            "Ada Lindqvist opened the Teal Bridge in 1911.",
            1,
            "opened on 23 May 1911 by Ada Lindqvist",
        ),
        ("It was opened by its designer.", 1, "by Ada Lindqvist - its designer"),
        ("Nobody expected it.", 2, '"Nobody expected it," said the mayor\'s clerk.'),
        ("It cost 1200 crowns.", 2, "it cost 1,200 crowns"),
        ("The Osprey was built in 1874.", 3, "| Osprey | 1874 |"),
    ],
)
def test_a_quote_counts_in_other_typography(text: str, passage: int, quote: str) -> None:
    assert prove(text, (passage, quote)) == ""


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize(
    ("text", "proven"),
    [
        ("It was opened [1].", "It was opened."),
        ("It was opened [1, 1] by her.", "It was opened by her."),
        ("It was opened [2].", ""),
    ],
)
def test_the_number_of_a_cited_passage_is_taken_out_of_the_sentence(text: str, proven: str) -> None:
    passage = SourcePassage(address="a", title="A", text="It was opened by her.")
    held = PASSAGES[0].model_copy(update={"passage": passage})
    said = AnswerSentence(text=text, cites=[Cite(passage=1, quote="was opened")])

    found = ProofGround(QUESTION, [held]).prove(said).proven

    assert (found.text if found else "") == proven


@pytest.mark.parametrize(
    ("quote", "stored"),
    [
        ("`make chaos` kills", "`make chaos` kills"),
        ("make chaos kills", "`make chaos` kills"),
        ("run `make chaos`", "run `make chaos`"),
        ("make chaos", "make chaos"),
        ("Truth. Nobody", "**Truth.** Nobody"),
        ("kills", "kills"),
    ],
)
def test_a_stored_quote_keeps_the_emphasis_marks_that_belong_together(
    quote: str, stored: str
) -> None:
    passage = SourcePassage(
        address="a", title="A", text="Here run `make chaos` kills. **Truth.** Nobody"
    )
    held = PASSAGES[0].model_copy(update={"passage": passage})

    located = ProofGround(QUESTION, [held]).locate(Cite(passage=1, quote=quote))

    assert not isinstance(located, str)
    assert located.quote == stored
    assert passage.text[located.start : located.end] == stored


@pytest.mark.conformance("LOOP-03")
@pytest.mark.parametrize(
    ("text", "cites", "why"),
    [
        ("It opened in 1921.", [(1, "opened on 23 May 1911")], "number 1921"),
        ("It opened [7].", [(1, "opened on 23 May 1911")], "number 7"),
        ("It opened in 1911.", [(1, "was inaugurated on 23 May 1911")], "does not stand"),
        ("It opened in 1911.", [(9, "opened on 23 May 1911")], "no passage 9"),
        ("It is the longest bridge of the country.", [], "cites no passage"),
        ("It opened in 1911.", [(2, "opened on 23 May 1911")], "does not stand in passage 2"),
        ("Olof Berg opened it in 1911.", [(1, "opened on 23 May 1911")], "name 'Olof'"),
        ("It opened in 1911.", [(1, "“”")], "too short"),
        ("", [(1, "opened on 23 May 1911")], "empty"),
    ],
)
def test_planted_faults_are_refused(text: str, cites: list[tuple[int, str]], why: str) -> None:
    assert why in prove(text, *cites)


@pytest.mark.parametrize(
    ("passage", "quote", "hint"),
    [
        (2, "opened on 23 May 1911", "but in passage 1"),
        (2, "the clerk said that nobody expected it", "such as: “Nobody **expected** it,”"),
        (1, "it cost a fortune", "copy its words"),
        (7, "opened on 23 May 1911", "there is no passage 7; the last one is 3"),
    ],
)
def test_a_refusal_says_where_the_words_are_or_which_are_meant(
    passage: int, quote: str, hint: str
) -> None:
    assert hint in prove("It opened in 1911.", (passage, quote))


def test_a_quote_keeps_the_quotation_mark_that_it_begins_with() -> None:
    said = AnswerSentence(
        text="Nobody expected it.", cites=[Cite(passage=2, quote='"Nobody expected it," said')]
    )
    proven = ProofGround(QUESTION, PASSAGES).prove(said).proven

    assert proven is not None
    assert proven.quotes[0].quote == "“Nobody **expected** it,” said"


def test_the_located_quote_is_the_sources_own_text() -> None:
    said = AnswerSentence(
        text="Nobody expected it.", cites=[Cite(passage=2, quote="nobody expected it")]
    )
    proven = ProofGround(QUESTION, PASSAGES).prove(said).proven

    assert proven is not None
    (quote,) = proven.quotes
    assert quote.quote == "Nobody **expected** it"
    assert TEXTS[1][quote.start : quote.end] == quote.quote


@pytest.mark.conformance("LOOP-03")
@pytest.mark.parametrize(
    ("text", "introduced_in", "is_proven"),
    [
        ("The Board of Lights decided it.", "lights.md", True),
        ("The Board of Trade decided it.", "lights.md", False),
        ("The Board of Lights decided it.", "other.md", False),
    ],
)
def test_a_full_name_is_shown_by_its_short_form_if_the_same_document_introduces_it(
    text: str, introduced_in: str, is_proven: bool
) -> None:
    texts = (
        (introduced_in, "The Board of Lights is old.", 0),
        ("lights.md", "The Board decided.", 40),
    )
    held = [
        PASSAGES[0].model_copy(
            update={
                "number": n,
                "source_id": n,
                "passage": SourcePassage(address=address, title="Log", text=said, start=start),
            }
        )
        for n, (address, said, start) in enumerate(texts, start=1)
    ]
    sentence = AnswerSentence(text=text, cites=[Cite(passage=2, quote="Board decided")])

    assert (ProofGround("Who decided?", held).prove(sentence).proven is not None) is is_proven
