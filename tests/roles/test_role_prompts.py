"""Tests of what the prompts of roles promise: whose words are data, and what comes before what."""

import json
from typing import Any

import pytest

from holdfast.models.verification.verifier_messages import ResultToVerify
from holdfast.roles.agents.assessor import ASSESSOR
from holdfast.roles.agents.stepper import STEPPER
from holdfast.roles.dialogue.answer_schemas import answer_schema
from holdfast.roles.dialogue.role_definition import Role
from holdfast.roles.loop.answer_judge import ANSWER_JUDGE
from holdfast.roles.planning.agent_steps_planner import OBJECTIVES, REPAIRER, STEP_PLANNER
from holdfast.roles.planning.planner import AGENT_TASK_PLANNER, CONTINUED_PLANNER, PLANNER
from holdfast.roles.planning.replanner import (
    AGENT_TASK_REPLANNER,
    LOOP_TASK_REPLANNER,
    REPLANNER,
)
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.roles.verification.sentence_checker import SENTENCE_CHECKER
from holdfast.roles.verification.verifier import VERIFIER
from tests.support.endpoints.scripted_roles import ROLES as SCRIPTED_ROLES

ROLES = (*SCRIPTED_ROLES, CONTINUED_PLANNER, ANSWER_JUDGE)
SELF_EVIDENT = {"id", "question", "today", "collection", "tools", "agents"}
ABSENT: dict[Role[Any, Any], set[str]] = {
    STEP_PLANNER: {"objectives", "deviation", "must_end"},
    OBJECTIVES: {"objectives", "trace", "guidance", "deviation", "must_end"},
    REPAIRER: {"guidance", "must_end"},
    STEPPER: {"deviation", "used_ids"},
    ASSESSOR: {"deviation"},
    REPLANNER: {"given", "expects"},
    AGENT_TASK_REPLANNER: {"given", "expects"},
    LOOP_TASK_REPLANNER: {"given", "expects"},
}
"""Fields that are never filled for a role, or that it has no use for."""


@pytest.mark.parametrize("role", ROLES)
def test_a_prompt_says_what_each_field_of_its_task_means(role: Role[Any, Any]) -> None:
    fields = role.task.model_fields
    if role is VERIFIER:
        fields = {**fields, **ResultToVerify.model_fields}
    shown = {name for name, field in fields.items() if not field.exclude}
    named = {name for name in shown if f"`{name}`" in role.instructions}

    assert shown - named - SELF_EVIDENT - ABSENT.get(role, set()) == set()


@pytest.mark.parametrize(
    ("role", "begins", "answer"),
    [
        (PLANNER, '{"id":"T3","kind"', '{"tasks": [%s]}'),
        (AGENT_TASK_PLANNER, '{"id":"T2","description"', '{"tasks": [%s]}'),
        (EXTRACTOR, '{"name":"architect"', '{"entities": [%s]}'),
        (VERIFIER, '{"id":"T1"', '{"verdicts": [%s]}'),
        (SENTENCE_CHECKER, '{"id":"S1"', '{"verdicts": [%s]}'),
    ],
)
def test_a_prompt_has_an_example_that_is_a_valid_answer(
    role: Role[Any, Any], begins: str, answer: str
) -> None:
    text = role.instructions.replace("\n", " ")
    start = text.index(begins)
    _, end = json.JSONDecoder().raw_decode(text, start)

    example = json.loads(answer % text[start:end])

    fields = role.answer.model_validate(example).model_dump(mode="json", exclude_unset=True)
    assert json.loads(json.dumps(fields)).keys() == example.keys()


@pytest.mark.parametrize("role", [STEPPER, ASSESSOR, STEP_PLANNER, OBJECTIVES, REPAIRER])
def test_what_the_user_answers_is_no_foreign_text_and_what_others_found_is(
    role: Role[Any, Any],
) -> None:
    assert "user_answers" not in role.foreign_fields
    assert "`user_answers`" in role.instructions
    assert {"answers", "hints"} <= set(role.foreign_fields)


@pytest.mark.parametrize("role", [each for each in ROLES if "collection" in each.task.model_fields])
def test_the_titles_of_a_collection_are_foreign_text(role: Role[Any, Any]) -> None:
    """A folder of documents may hold pages that somebody else wrote, with titles that order."""
    assert "collection" in role.foreign_fields


@pytest.mark.parametrize("role", [PLANNER, AGENT_TASK_PLANNER])
def test_a_planner_is_told_when_no_task_concludes(role: Role[Any, Any]) -> None:
    assert "Unless `concludes` is false" in role.instructions


@pytest.mark.parametrize("role", [PLANNER, REPLANNER])
def test_a_plan_asks_for_units_that_are_not_known(role: Role[Any, Any]) -> None:
    """A deduction sees values alone: without its currency, a price is told without one."""
    assert "A unit that is not known yet" in role.instructions


def test_a_computed_figure_is_cited_with_what_it_was_computed_from() -> None:
    """What a program answers, as `result = 3800.0`, shows no checker what the figure counts."""
    assert "computed figure" in SYNTHESISER.instructions


def test_the_checker_says_why_before_it_judges() -> None:
    verdict = answer_schema(SENTENCE_CHECKER.answer)["properties"]["verdicts"]["items"]

    assert list(verdict["properties"]) == ["id", "why", "verdict", "idle"]


def test_evidence_comes_before_the_verdict() -> None:
    entity = answer_schema(EXTRACTOR.answer)["properties"]["entities"]["items"]
    verdicts = answer_schema(VERIFIER.answer)["properties"]["verdicts"]
    verdict = list(verdicts["items"]["properties"])

    assert list(entity["properties"]) == [
        "name",
        "quote",
        "more_quotes",
        "value",
        "confidence",
    ]
    assert verdict[:5] == ["id", "missing", "contradictions", "completeness", "status"]


def test_a_deviation_belongs_to_an_agent_that_goes_on() -> None:
    failed, _, rest = ASSESSOR.instructions.partition("- `failed`:")[2].partition("\n")

    assert "deviation" not in failed
    assert rest.startswith("With `needs_more_steps`, `deviation`")
