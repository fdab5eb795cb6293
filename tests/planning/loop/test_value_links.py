"""Tests for the sentences that a promised value is based on, and for its confidence then (REP-01)."""

import pytest

from holdfast.models.loop.loop_results import LinkStrength, ProvenQuote, ProvenSentence
from holdfast.planning.loop.answer_confidence import value_confidence, weakest_of
from holdfast.planning.loop.value_links import sentences_under
from holdfast.planning.loop.value_proof import ValueProof

QUESTION = "Where was the designer of the Teal Bridge born, and when did it open?"


def quote(text: str, source: int = 1) -> ProvenQuote:
    return ProvenQuote(
        source_id=source, step_id="T1.1", attempt=1, start=0, end=len(text), quote=text
    )


def link(text: str, source: int, strength: LinkStrength = LinkStrength.STATED) -> ProvenSentence:
    return ProvenSentence(text=text, quotes=(quote(text, source),), strength=strength)


CITY = ValueProof("city", "Malmo", 0.95, (quote("Lindqvist was born in Malmo", 5),), True)
OPENED = ValueProof("opened", 1911, 0.95, (quote("The Teal Bridge opened in 1911", 6),), True)
DESIGNED = link("Ada Lindqvist designed the Teal Bridge.", 1, LinkStrength.WEAK)


def test_a_value_based_on_the_sentences_that_share_a_name_with_it() -> None:
    assert sentences_under(CITY, [DESIGNED], QUESTION) == [DESIGNED]
    assert sentences_under(OPENED, [DESIGNED], QUESTION) == [], "the question's name is no link"


def test_a_value_based_on_what_its_sentences_are_based_on() -> None:
    built = link("Brandt and Sons built the Teal Bridge.", 2, LinkStrength.WEAK)
    employed = link("Brandt employed Ada Lindqvist.", 3)
    other = link("Osman painted the railings.", 4, LinkStrength.WEAK)

    found = sentences_under(CITY, [built, employed, other], QUESTION)

    assert found == [built, employed]
    assert weakest_of(found) == built


def test_a_value_based_on_a_sentence_with_the_same_quote() -> None:
    same = ProvenSentence(text="it opened then", quotes=OPENED.quotes, strength=LinkStrength.WEAK)

    assert sentences_under(OPENED, [same, DESIGNED], QUESTION) == [same]


@pytest.mark.parametrize(
    ("strength", "confidence"),
    [(LinkStrength.STATED, 0.95), (LinkStrength.IMPLIED, 0.8), (LinkStrength.WEAK, 0.55)],
)
def test_a_value_is_no_surer_than_the_sentence_that_it_based_on(
    strength: LinkStrength, confidence: float
) -> None:
    under = [link("Ada Lindqvist designed it.", 1, strength), link("Lindqvist was an engineer.", 2)]

    assert value_confidence(CITY, 1.0, is_judged=True, based_on=under) == confidence
