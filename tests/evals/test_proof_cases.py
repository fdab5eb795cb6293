"""Tests of the proof's rules over committed cases: no planted fault passes, true sentences do."""

from pathlib import Path

import pytest

from holdfast.evals.proof.__main__ import main
from holdfast.evals.proof.proof_cases import (
    delivered_cases,
    numbered_passages,
    planted_faults,
    refused_cases,
    true_sentences,
)

MOST_REFUSED = 0.05


@pytest.mark.conformance("LOOP-03", "LOOP-05")
def test_none_of_the_planted_faults_is_delivered() -> None:
    faults = planted_faults()

    assert len(faults) == 20
    assert len({each.kind for each in faults}) == 5
    assert delivered_cases(faults) == []


@pytest.mark.conformance("LOOP-03", "LOOP-05")
def test_at_most_one_true_sentence_in_twenty_is_refused() -> None:
    true = true_sentences()
    refused = refused_cases(true)

    assert len(true) >= 100
    assert len(refused) <= MOST_REFUSED * len(true), refused


def test_the_documented_shares_are_those_of_the_cases() -> None:
    page = (Path(__file__).parents[2] / "docs/evaluation.md").read_text()
    faults, true = planted_faults(), true_sentences()
    refused = len(refused_cases(true))

    assert f"| {len(faults)} | {len(delivered_cases(faults))} delivered |" in page
    assert f"| {len(true)} | {refused} refused ({100 * refused / len(true):.1f} %) |" in page


def test_each_true_sentence_has_an_honest_quote() -> None:
    passages = {each.number: each.passage.text for each in numbered_passages()}

    for sentence in true_sentences():
        for cite in sentence.cites:
            quote = " ".join(cite.quote.split())
            assert quote in " ".join(passages[cite.passage].split()), sentence.text


def test_the_command_prints_both_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main() == 0

    said = capsys.readouterr().out
    assert "planted faults delivered: 0 of 20 (4 wrong number, 4 paraphrased quote" in said
    assert "true sentences refused: " in said
