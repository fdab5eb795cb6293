"""Tests for the KPI check (KPI-07) and the choice between candidates (KPI-08)."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import JsonValue

from holdfast.models.plans.research_plan import FINAL_ANSWER, EntityType, ExpectedEntity
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.planning.results.chunk_candidates import chosen_candidates
from holdfast.planning.results.kpi_check import EntityCandidate, best_candidates, check_kpis
from holdfast.planning.results.value_types import convert_to_type, has_type

NAME = ExpectedEntity(name="name")


def found(value: object, confidence: float = 0.9, name: str = "name") -> dict[str, EntityCandidate]:
    return {name: EntityCandidate(name=name, value=value, confidence=confidence)}


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
    assert check_kpis([NAME], found(value, confidence), 0.7).is_success is passes


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
    expected = ExpectedEntity(name="name", type=kind)

    assert check_kpis([expected], found(right), 0.7).is_success
    assert check_kpis([expected], found(wrong), 0.7).mistyped == ("name",)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (["Brannock", "Quorum Alarm"], "Brannock; Quorum Alarm"),
        (["Brannock"], "Brannock"),
        (["Unit 4", 7.5], "Unit 4; 7.5"),
    ],
)
def test_a_final_answer_written_as_a_list_is_the_text_of_its_elements(
    written: list[object], kept: str
) -> None:
    final = ExpectedEntity(name=FINAL_ANSWER)

    verdict = check_kpis([final], found(written, name=FINAL_ANSWER), None)

    assert [each.value for each in verdict.kept] == [kept]


@pytest.mark.parametrize("written", [[], [None], ["a", ""], [{"a": 1}], [["a"]], [True]])
def test_a_final_answer_of_other_lists_fails(written: list[object]) -> None:
    final = ExpectedEntity(name=FINAL_ANSWER)

    assert not check_kpis([final], found(written, name=FINAL_ANSWER), None).is_success


@pytest.mark.conformance("KPI-07")
def test_each_entity_has_a_confidence_of_its_own() -> None:
    expects = [ExpectedEntity(name="a"), ExpectedEntity(name="b")]

    verdict = check_kpis(expects, found("x", 0.95, "a") | found("y", 0.4, "b"), 0.7)

    assert (verdict.weak, verdict.missing) == (("b",), ())
    assert verdict.confidence == 0.4


def test_an_optional_entity_may_be_missing_and_a_weak_one_is_not_kept() -> None:
    expects = [NAME, ExpectedEntity(name="extra", required=False)]

    verdict = check_kpis(expects, found("Ada") | found("guess", 0.2, "extra"), 0.7)

    assert verdict.is_success
    assert [each.name for each in verdict.kept] == ["name"]


def test_without_a_threshold_only_presence_and_type_count() -> None:
    assert check_kpis([NAME], found("Ada", 0.0), None).is_success
    assert not check_kpis([NAME], found(None), None).is_success


@pytest.mark.conformance("KPI-08")
def test_the_candidate_with_the_highest_confidence_wins_and_nothing_never_beats_a_value() -> None:
    best = best_candidates(
        [
            EntityCandidate(name="a", value="x", confidence=0.4),
            EntityCandidate(name="a", value="y", confidence=0.8),
            EntityCandidate(name="a", value=None, confidence=0.99),
            EntityCandidate(name="b", value=None, confidence=0.9),
            EntityCandidate(name="b", value="z", confidence=0.1),
        ]
    )

    assert (best["a"].value, best["b"].value) == ("y", "z")


def listed(*items: object, confidence: float = 0.9) -> EntityCandidate:
    return EntityCandidate(name="films", value=list(items), confidence=confidence)


FILMS = ExpectedEntity(name="films", type=EntityType.ARRAY)


@pytest.mark.conformance("KPI-08")
@pytest.mark.parametrize(
    ("candidates", "value", "confidence"),
    [
        ([listed("Ida", "Ada"), listed("ada", "Eva", confidence=0.8)], ["Ida", "Ada", "Eva"], 0.8),
        ([listed("Ida"), listed("Ada", confidence=0.6)], ["Ida"], 0.9),
        ([listed("Ida", confidence=0.5), listed("Ada", confidence=0.6)], ["Ada"], 0.6),
        ([listed(), listed("Ada")], ["Ada"], 0.9),
        ([listed(7, confidence=0.8), listed({"a": 1})], [7, {"a": 1}], 0.8),
    ],
)
def test_the_items_of_a_list_are_joined_over_all_chunks_that_are_sure_enough(
    candidates: list[EntityCandidate], value: list[object], confidence: float
) -> None:
    chosen = chosen_candidates(candidates, [FILMS], 0.7)["films"].candidate

    assert (chosen.value, chosen.confidence) == (value, confidence)


@pytest.mark.conformance("KPI-08")
def test_of_a_value_that_is_no_list_the_surest_counts_alone() -> None:
    candidates = [*found("Ada", 0.8).values(), *found("Ida", 0.95).values()]

    chosen = chosen_candidates(candidates, [NAME], 0.7)["name"]

    assert (chosen.candidate.value, len(chosen.parts)) == ("Ida", 1)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.none() | st.text(min_size=1), st.floats(0, 1))))
def test_the_best_does_not_depend_on_a_later_weaker_one(
    items: list[tuple[str, str, float]],
) -> None:
    candidates = [EntityCandidate(name=n, value=v, confidence=c) for n, v, c in items]

    for name, best in best_candidates(candidates).items():
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
        ('{"year": 1945}', EntityType.DICT, {"year": 1945}),
        ('[{"year": 1945}, {"year": 1946}]', EntityType.ARRAY, [{"year": 1945}, {"year": 1946}]),
        ("[1945]", EntityType.DICT, "[1945]"),
        ('{"year": ', EntityType.DICT, '{"year": '),
        ('{"year": 1945}', EntityType.STRING, '{"year": 1945}'),
    ],
)
def test_a_value_is_converted_only_where_nothing_is_lost(
    value: object, kind: EntityType, result: object
) -> None:
    assert convert_to_type(value, kind) == result


def test_a_kept_value_has_the_type_and_description_of_its_promise() -> None:
    promised = ExpectedEntity(name="year", type=EntityType.INTEGER, description="when it opened")

    (kept,) = check_kpis([promised], found("1911", 1.2, "year"), 0.7).kept

    assert kept == EntityValue(
        name="year", type="integer", description="when it opened", value=1911, confidence=1.0
    )


@given(
    st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers()),
    st.sampled_from(EntityType),
)
@example(" 1,000 ", EntityType.STRING)
@example(7.0, EntityType.INTEGER)
@example(7, EntityType.NUMBER)
@example(True, EntityType.BOOLEAN)
def test_a_value_that_has_the_type_is_not_converted(value: JsonValue, kind: EntityType) -> None:
    if has_type(value, kind):
        assert convert_to_type(value, kind) == value
