"""Tests for the lenient reading of answers: confidences in percent, and fields in other spellings."""

import pytest
from pydantic import ValidationError

from holdfast.models.answer_draft import Confidence, Draft
from holdfast.models.plans.plan_drafts import AgentContinuationDraft, AgentPlanDraft, DraftTask
from holdfast.models.text.meant_ids import meant_id
from holdfast.roles.loop.answer_judge import AnswerJudgement
from holdfast.roles.tasks.extractor import Extracted, ExtractorAnswer
from holdfast.roles.tasks.reasoner import ReasonerAnswer
from holdfast.roles.verification.sentence_checker import SentenceCheckerAnswer


class Rated(Draft):
    """An answer with a share."""

    confidence: Confidence


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        (0.95, 0.95),
        (1, 1.0),
        (0, 0.0),
        ("0.95", 0.95),
        (95, 0.95),
        ("95", 0.95),
        ("95%", 0.95),
        (" 7.5 % ", 0.075),
        ("100%", 1.0),
        (100, 1.0),
        ("0%", 0.0),
    ],
)
def test_a_confidence_in_percent_is_read_as_a_share(written: object, read: float) -> None:
    assert Rated.model_validate({"confidence": written}).confidence == pytest.approx(read)


@pytest.mark.parametrize("written", [1.5, 8, 10, 101, -0.1, "0.95%", "110%", "high", True, None])
def test_a_confidence_that_may_mean_something_else_is_refused(written: object) -> None:
    with pytest.raises(ValidationError):
        Rated.model_validate({"confidence": written})


def test_fields_are_read_in_another_case_and_with_other_separators() -> None:
    written = {
        "Id": "T2",
        "Kind": "tool",
        "DESCRIPTION": "find it",
        "dependsOn": ["T1"],
        "include context": True,
        "Tool-Name": "search",
    }

    task = DraftTask.model_validate(written)

    assert (task.id, task.description, task.depends_on) == ("T2", "find it", ["T1"])
    assert (task.include_context, task.tool) == (True, "search")


@pytest.mark.parametrize("written", ["values", "valuex", "valve", "val_eu"])
def test_a_field_that_is_a_letter_away_from_a_missing_one_is_a_fault(written: str) -> None:
    with pytest.raises(ValidationError, match=f"there is no field '{written}'; write 'value'"):
        ExtractorAnswer.model_validate({"entities": [{"name": "county", written: "Carver"}]})


def test_a_field_that_nobody_asked_for_is_dropped() -> None:
    entity = Extracted.model_validate({"name": "county", "value": "Carver", "values": 1, "type": 2})

    assert entity == Extracted(name="county", value="Carver")


def test_a_field_under_its_own_name_is_never_replaced() -> None:
    entity = Extracted.model_validate({"Value": "wrong", "name": "county", "value": "Carver"})

    assert entity.value == "Carver"


@pytest.mark.conformance("MOD-10")
def test_fixed_words_are_read_in_another_case() -> None:
    judged = AnswerJudgement.model_validate({"answer_follows": True, "strength": " Stated"})
    reasoned = ReasonerAnswer.model_validate({"status": "Completed", "outputs": []})

    assert (judged.strength, reasoned.status) == ("stated", "completed")
    with pytest.raises(ValidationError, match="'stated', 'implied' or 'weak'"):
        AnswerJudgement.model_validate({"answer_follows": True, "strength": "strong"})


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize(
    ("written", "read"),
    [("One step.", ["One step."]), ("", []), (None, []), (["a", "b"], ["a", "b"])],
)
def test_one_text_is_a_list_of_it_and_nothing_an_empty_list(
    written: object, read: list[str]
) -> None:
    answer = {"reasoning_steps": written, "status": "failed", "outputs": []}

    assert ReasonerAnswer.model_validate(answer).reasoning_steps == read


@pytest.mark.conformance("MOD-10")
def test_one_object_is_a_list_of_it() -> None:
    verdict = {"id": " s1", "verdict": "SUPPORTED"}

    answer = SentenceCheckerAnswer.model_validate({"verdicts": verdict})

    assert [(each.id, each.verdict) for each in answer.verdicts] == [("S1", "supported")]


@pytest.mark.conformance("MOD-10")
def test_one_value_with_its_confidence_is_a_list_of_it() -> None:
    found = {"name": "year", "value": 1889, "confidence": 90}

    (entity,) = ExtractorAnswer.model_validate({"entities": found}).entities

    assert (entity.name, entity.value, entity.confidence) == ("year", 1889, 0.9)
    with pytest.raises(ValidationError, match="valid list"):
        ExtractorAnswer.model_validate({"entities": {"name": "year", "value": 1889}})


@pytest.mark.conformance("MOD-10")
def test_inputs_are_read_from_an_object_of_their_names_unless_it_may_be_one_input() -> None:
    task = {"id": "T1", "kind": "tool", "description": "find it"}

    read = DraftTask.model_validate(task | {"inputs": {"query": "Carver", "limit": 3}})

    assert [(each.name, each.value) for each in read.inputs] == [("query", "Carver"), ("limit", 3)]
    with pytest.raises(ValidationError, match="valid list"):
        DraftTask.model_validate(task | {"inputs": {"name": "query", "value": "Carver"}})


@pytest.mark.conformance("MOD-10")
def test_ids_in_another_case_and_in_brackets_are_read_where_one_is_meant() -> None:
    written = {"tasks": [_planned("T1", ["t0"]), _planned("T2", "[t1]"), _planned("T3", ["t9"])]}

    plan = AgentPlanDraft.model_validate(written).to_plan()

    assert [task.depends_on for task in plan.tasks] == [("T0",), ("T1",), ("t9",)]
    assert meant_id("t1a", ["T1a", "T1A"]) == "t1a", "two may be meant"


@pytest.mark.conformance("MOD-10")
def test_a_new_task_may_depend_on_one_that_stays_and_has_its_id_in_another_case() -> None:
    draft = AgentContinuationDraft.model_validate({"tasks": [_planned("T2", ["t2"])]})

    assert draft.to_plan().tasks[0].depends_on == ("t2",)


def _planned(name: str, needs: object) -> dict[str, object]:
    return {"id": name, "description": "Who?", "agent": "rag", "depends_on": needs}
