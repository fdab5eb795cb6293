"""Tests that the claims of two reports are matched by rules, and that doubts are named."""

import pytest

from holdfast.models.evidence.evidence import Citation, Report, ReportStatement
from holdfast.planning.reports.claim_matching import (
    ClaimChange,
    ClaimMatch,
    ModelMatches,
    match_claims,
)

pytestmark = pytest.mark.conformance("REC-01")


def report(*claims: tuple[str, str]) -> Report:
    """A report whose claims each cite one quote."""
    return Report(
        question="Who?",
        answer=None,
        findings=tuple(
            ReportStatement(text=text, marks=(mark,)) for mark, (text, _) in enumerate(claims, 1)
        ),
        citations=tuple(
            Citation(
                mark=mark,
                evidence_id=mark,
                source_id=mark,
                address="https://example.org/a",
                title="A",
                heading="",
                start=0,
                end=len(quote),
                quote=quote,
                sha256="0",
            )
            for mark, (_, quote) in enumerate(claims, 1)
        ),
    )


def test_each_claim_is_the_same_changed_new_or_gone() -> None:
    before = report(
        ("The tower has 12 floors.", "twelve floors"),
        ("Ada Byron built the lighthouse in 1899.", "built by Ada Byron"),
        ("The harbour closed for the winter.", "closed in winter"),
        ("The lamp burns rapeseed oil.", "rapeseed oil"),
        ("Nobody lives on the island.", "nobody lives"),
    )
    after = report(
        ("The tower has 14 floors.", "fourteen floors"),
        ("The lighthouse was built in 1899 by Ada Byron.", "built by Ada Byron"),
        ("The harbour closed for the winter.", "harbour shut"),
        ("The lamp burns rapeseed oil.", "rapeseed oil"),
        ("Mail comes on Tuesdays.", "mail on Tuesdays"),
    )

    pairs = match_claims(before, after)

    assert [pair.change for pair in pairs] == [
        ClaimChange.OTHER_VALUE,
        ClaimChange.REWORDED,
        ClaimChange.OTHER_SUPPORT,
        ClaimChange.SAME,
        ClaimChange.GONE,
        ClaimChange.NEW,
    ]
    assert pairs[0].second == "The tower has 14 floors."
    assert pairs[0].second_quotes == ("fourteen floors",)
    assert {pair.unsettled for pair in pairs} == {""}


def test_a_claim_that_may_be_about_the_same_is_named_and_not_matched() -> None:
    pairs = match_claims(
        report(("The keeper of the northern lighthouse retired in spring.", "a")),
        report(("The northern lighthouse lost its last keeper in spring.", "b")),
    )

    assert [pair.change for pair in pairs] == [ClaimChange.GONE, ClaimChange.NEW]
    assert pairs[0].unsettled == "The northern lighthouse lost its last keeper in spring."


def test_a_model_pairs_what_rules_left_over_and_never_hides_another_number() -> None:
    before = report(
        ("The keeper was paid by the crown.", "paid by the crown"),
        ("Its lamp is visible for 12 miles.", "12 miles"),
        ("Nobody lives on the island.", "nobody lives"),
        ("The tower has 12 floors.", "twelve floors"),
    )
    after = report(
        ("Wages of the lighthouse staff came from private owners.", "private owners"),
        ("Ships see the light from 14 miles away.", "14 miles"),
        ("The tower has 12 floors.", "twelve floors"),
        ("Mail comes on Tuesdays.", "mail on Tuesdays"),
    )
    by_rules = match_claims(before, after)
    left = [each.text for each in (*before.findings, *after.findings)]
    pay, light = left[0], left[1]
    found = ModelMatches(
        model="strong",
        shown=frozenset(left),
        matches=(
            ClaimMatch(first=pay, second=left[4], has_same_value=False),
            ClaimMatch(first=light, second=left[5], has_same_value=True),
            # Rules have matched this claim already.
            ClaimMatch(first=left[2], second="The tower has 12 floors.", has_same_value=True),
        ),
    )

    pairs = match_claims(before, after, found)

    assert [each.change for each in by_rules if each.first] == [
        *[ClaimChange.GONE] * 3,
        ClaimChange.SAME,
    ]
    assert [(each.change, each.matched_by) for each in pairs] == [
        (ClaimChange.OTHER_VALUE, "strong"),
        (ClaimChange.OTHER_VALUE, "strong"),
        (ClaimChange.GONE, ""),
        (ClaimChange.SAME, "rules"),
        (ClaimChange.NEW, ""),
    ]


def test_what_a_model_saw_and_did_not_pair_is_settled() -> None:
    before, after = report(("The lamp burns oil.", "oil")), report(("The lamp burns gas.", "gas"))
    shown = frozenset({"The lamp burns oil.", "The lamp burns gas."})
    none = ModelMatches(model="strong", shown=shown, matches=())

    assert {each.unsettled for each in match_claims(before, after)} == shown
    assert {each.unsettled for each in match_claims(before, after, none)} == {""}
