"""The KPI check (KPI-07) and the choice between candidates (KPI-08)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.plan import EntityType, Expected
from planning.kpis import Candidate, best_of, judge
from planning.values import fitted, has_type, storable

NAME = Expected(name="name")


def found(value: object, confidence: float = 0.9, name: str = "name") -> dict[str, Candidate]:
    return {name: Candidate(name=name, value=value, confidence=confidence)}


@pytest.mark.conformance("KPI-07")
@pytest.mark.parametrize(
    ("value", "confidence", "passes"),
    [
        ("Ada", 0.70, True),
        ("Ada", 0.69, False),
        (None, 0.99, False),
        ("  ", 0.99, False),
        (7.5, 0.9, True),
    ],
)
def test_an_entity_passes_when_it_is_there_and_trusted(
    value: object, confidence: float, passes: bool
) -> None:
    assert judge([NAME], found(value, confidence), 0.7).is_success is passes


@pytest.mark.conformance("KPI-07")
@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (EntityType.STRING, "x", ["x"]),
        (EntityType.NUMBER, 1.5, "many"),
        (EntityType.INTEGER, 3, 3.5),
        (EntityType.BOOLEAN, False, "maybe"),
        (EntityType.ARRAY, [], {"a": 1}),
        (EntityType.DICT, {}, [1]),
        (EntityType.NUMBER, 0, True),
    ],
)
def test_an_entity_of_another_type_fails(kind: EntityType, right: object, wrong: object) -> None:
    expected = Expected(name="name", type=kind)

    assert judge([expected], found(right), 0.7).is_success
    assert judge([expected], found(wrong), 0.7).mistyped == ("name",)


@pytest.mark.conformance("KPI-07")
def test_each_entity_has_a_confidence_of_its_own() -> None:
    expects = [Expected(name="a"), Expected(name="b")]

    verdict = judge(expects, found("x", 0.95, "a") | found("y", 0.4, "b"), 0.7)

    assert (verdict.weak, verdict.missing) == (("b",), ())
    assert verdict.confidence == 0.4


def test_an_optional_entity_may_be_missing_and_a_weak_one_is_not_kept() -> None:
    expects = [NAME, Expected(name="extra", required=False)]

    verdict = judge(expects, found("Ada") | found("guess", 0.2, "extra"), 0.7)

    assert verdict.is_success
    assert [each.name for each in verdict.kept] == ["name"]


def test_without_a_threshold_only_presence_and_type_count() -> None:
    assert judge([NAME], found("Ada", 0.0), None).is_success
    assert not judge([NAME], found(None), None).is_success


@pytest.mark.conformance("KPI-08")
def test_the_candidate_with_the_highest_confidence_wins_and_nothing_never_beats_a_value() -> None:
    best = best_of(
        [
            Candidate(name="a", value="x", confidence=0.4),
            Candidate(name="a", value="y", confidence=0.8),
            Candidate(name="a", value=None, confidence=0.99),
            Candidate(name="b", value=None, confidence=0.9),
            Candidate(name="b", value="z", confidence=0.1),
        ]
    )

    assert (best["a"].value, best["b"].value) == ("y", "z")


@given(st.lists(st.tuples(st.sampled_from("ab"), st.none() | st.text(min_size=1), st.floats(0, 1))))
def test_the_best_does_not_depend_on_a_later_weaker_one(
    items: list[tuple[str, str, float]],
) -> None:
    candidates = [Candidate(name=n, value=v, confidence=c) for n, v, c in items]

    for name, best in best_of(candidates).items():
        rivals = [c for c in candidates if c.name == name and (c.value or "").strip()]
        assert not rivals or best.confidence == max(c.confidence for c in rivals)


@pytest.mark.parametrize(
    ("value", "kind", "result"),
    [
        ("1,945", EntityType.NUMBER, 1945),
        ("3.5", EntityType.NUMBER, 3.5),
        ("3.5", EntityType.INTEGER, "3.5"),
        (4.0, EntityType.INTEGER, 4),
        (12, EntityType.STRING, "12"),
        ("Apollo 11", EntityType.NUMBER, "Apollo 11"),
        (True, EntityType.STRING, True),
    ],
)
def test_a_value_is_converted_only_where_nothing_is_lost(
    value: object, kind: EntityType, result: object
) -> None:
    assert fitted(value, kind) == result


def test_what_postgresql_cannot_hold_is_replaced() -> None:
    assert storable({"a\x00": ["\ud800x", float("nan")]}) == {"a\ufffd": ["?x", None]}


@given(st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers()))
def test_a_fitted_value_that_has_the_type_is_unchanged(value: object) -> None:
    for kind in EntityType:
        if has_type(value, kind):
            assert fitted(value, kind) == value
