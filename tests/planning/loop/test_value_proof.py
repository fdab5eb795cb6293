"""Tests for promised values whose quotes do not all stand: corrected first, then decided."""

import pytest

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.loop.loop_functions import Cite, PromisedValue
from holdfast.models.loop.loop_results import NumberedPassage
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.planning.loop.answer_proof import ProofGround
from holdfast.planning.loop.value_proof import ValueProof, prove_values

BORN = "Ada Lindqvist was born in Malmo in 1871."
BUILT = "The Teal Bridge was designed by Ada Lindqvist."
PARAPHRASE = Cite(passage=2, quote="Ada Lindqvist is the designer of the Teal Bridge")
CITY = ExpectedEntity(name="city")


def numbered(number: int, text: str) -> NumberedPassage:
    passage = SourcePassage(address=f"folder/{number}.md", title=f"Page {number}", text=text)
    return NumberedPassage(
        number=number, source_id=number, step_id="T1.1", attempt=1, passage=passage
    )


def proof(value: object, *cites: Cite, is_last: bool) -> ValueProof:
    ground = ProofGround("Where was she born?", [numbered(1, BORN), numbered(2, BUILT)])
    said = PromisedValue.model_validate(
        {"name": "city", "value": value, "cites": [each.model_dump() for each in cites]}
    )
    (proven,) = prove_values([said], [CITY], ground, is_last=is_last)
    return proven


@pytest.mark.parametrize(
    "cites",
    [(Cite(passage=1, quote=BORN), PARAPHRASE), (Cite(passage=2, quote=BORN),)],
    ids=["one quote is paraphrased", "the quote is in another passage"],
)
def test_a_wrong_quote_is_sent_back_once_and_then_the_quotes_that_stand_decide(
    cites: tuple[Cite, ...],
) -> None:
    first, last = (proof("Malmo", *cites, is_last=is_last) for is_last in (False, True))

    assert "does not stand in passage 2" in first.why_refused
    assert (last.why_refused, last.is_stated) == ("", True)
    assert [(each.source_id, each.quote) for each in last.quotes] == [(1, BORN)]


def test_a_value_without_a_quote_that_stands_stays_refused() -> None:
    assert "does not stand" in proof("Malmo", PARAPHRASE, is_last=True).why_refused


def test_the_quotes_that_stand_must_still_show_the_value() -> None:
    wrong = proof("Oslo", Cite(passage=1, quote=BORN), PARAPHRASE, is_last=True)

    assert "Oslo" in wrong.why_refused
