"""Tests for the measures of stated confidences, and for the calibration that is fitted on them."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.configuration.calibration_settings import read_calibrations
from holdfast.evals.measures.calibration_fit import calibration_lines, fit_route_table
from holdfast.evals.measures.confidence_figures import (
    RatedAnswer,
    auroc,
    confidence_figures,
    confidence_lines,
    is_right_answer,
)
from holdfast.models.errors import BadInput
from holdfast.models.evidence.answer_routes import AnswerRoute
from holdfast.planning.reports.answer_calibration import (
    built_in_calibration,
    calibrated_confidence,
)

pytestmark = pytest.mark.conformance("EVA-01")

RATED_ANSWERS = Path(__file__).parent / "data/rated_answers.json"
"""Answers of the built-in model to MuSiQue and 2WikiMultihopQA, on which nothing was fitted: the
route, the confidence before calibration, and whether the answer is right."""

rated_answers = st.lists(
    st.builds(
        RatedAnswer, st.sampled_from([0.1, 0.25, 0.5, 0.7, 0.95]), st.booleans(), st.just(None)
    ),
    min_size=1,
    max_size=30,
)


def rated(*pairs: tuple[float, bool], route: AnswerRoute | None = None) -> list[RatedAnswer]:
    return [RatedAnswer(confidence, is_right, route) for confidence, is_right in pairs]


@given(rated_answers)
@pytest.mark.slow
def test_auroc_is_the_share_of_pairs_in_which_the_right_answer_is_surer(
    answers: Sequence[RatedAnswer],
) -> None:
    right = [each.confidence for each in answers if each.is_right]
    wrong = [each.confidence for each in answers if not each.is_right]
    pairs = [(one > other) + (one == other) / 2 for one in right for other in wrong]
    found = confidence_figures(answers)

    assert found is not None
    if not pairs:
        assert found.auroc is None
    else:
        assert auroc(answers) == pytest.approx(sum(pairs) / len(pairs))
        assert found.auroc is not None
        assert found.auroc.low <= found.auroc.mean <= found.auroc.high


def test_the_figures_count_what_is_sure_and_wrong() -> None:
    found = confidence_figures(rated((0.9, True), (0.7, False), (0.69, False), (0.2, False)))

    assert found is not None
    assert (found.sure, found.sure_and_wrong) == (2, 1)
    assert found.right == 0.25
    assert found.brier == pytest.approx((0.1**2 + 0.7**2 + 0.69**2 + 0.2**2) / 4)
    assert [(each.low, each.answers, each.right) for each in found.bins] == [
        (0.2, 1, 0.0),
        (0.6, 1, 0.0),
        (0.7, 1, 0.0),
        (0.9, 1, 1.0),
    ]


def test_the_lines_name_auroc_brier_and_the_wrong_ones() -> None:
    answers = rated((0.9, True), (0.9, True), (0.8, False), (0.3, False))

    lines = list(confidence_lines(confidence_figures(answers)))

    assert "AUROC 1.00" in lines[0]
    assert "Brier 0.188" in lines[0]
    assert "wrong at 0.7 or more: 1 of 3" in lines[0]
    assert lines[2].split() == ["0.3", "to", "0.4", "1", "0.30", "0.0%"]
    assert list(confidence_lines(None)) == ["confidence: no answer states one"]


def test_an_answer_is_right_in_other_words_of_the_same_name() -> None:
    assert is_right_answer("Queen Imogen II", ["Imogen II"])
    assert not is_right_answer("Imogen Pell of Selby Marsh, who drew lamps", ["Selby Marsh Museum"])


def test_a_fitted_table_is_read_from_holdfast_toml(tmp_path: Path) -> None:
    direct = rated(*[(0.8, True)] * 6, *[(0.8, False)] * 2, route=AnswerRoute.DIRECT)
    few = rated((0.8, False), (0.8, False), route=AnswerRoute.SHARED)

    table = fit_route_table([*direct, *few])
    file = tmp_path / "holdfast.toml"
    file.write_text("\n".join(calibration_lines("gpt-5.1", table, [*direct, *few])))

    mean = 0.6
    assert table == {
        AnswerRoute.DIRECT: round((6 + 2 * mean) / 10, 2),
        AnswerRoute.ANY: mean,
    }, "two answers are too few for a row of their own"
    assert read_calibrations(file)["gpt-5.1"] == table
    assert read_calibrations(file)["extractive"] == built_in_calibration()["extractive"]
    assert "direct = 0.72  # 6 of 8 right" in file.read_text()


def test_nothing_is_fitted_on_no_answer() -> None:
    with pytest.raises(BadInput, match="nothing to calibrate"):
        fit_route_table([])


def test_the_built_in_model_tells_right_from_wrong_where_it_was_not_fitted() -> None:
    table = built_in_calibration()["extractive"]
    rows = json.loads(RATED_ANSWERS.read_text())
    before = [RatedAnswer(sure, is_right) for _, sure, is_right in rows]
    after = [
        RatedAnswer(calibrated_confidence(sure, AnswerRoute(route), table), is_right)
        for route, sure, is_right in rows
    ]

    was, found = confidence_figures(before), confidence_figures(after)

    assert was is not None
    assert found is not None
    assert found.auroc is not None
    assert found.auroc.mean >= 0.75
    assert found.brier <= 0.2 < was.brier
    assert found.sure_and_wrong * 5 < was.sure_and_wrong
    assert abs(found.mean_confidence - found.right) < 0.15
