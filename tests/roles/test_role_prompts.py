"""Tests of what the prompts of roles promise: whose words are data, and what comes before what."""

from typing import Any

import pytest

from holdfast.roles.agents.assessor import ASSESSOR
from holdfast.roles.agents.stepper import STEPPER
from holdfast.roles.dialogue.answer_schemas import answer_schema
from holdfast.roles.dialogue.role_definition import Role
from holdfast.roles.planning.agent_steps_planner import OBJECTIVES, REPAIRER, STEP_PLANNER
from holdfast.roles.planning.planner import AGENT_TASK_PLANNER, PLANNER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.roles.verification.sentence_checker import SENTENCE_CHECKER
from holdfast.roles.verification.verifier import VERIFIER


@pytest.mark.parametrize("role", [STEPPER, ASSESSOR, STEP_PLANNER, OBJECTIVES, REPAIRER])
def test_what_the_user_answers_is_no_foreign_text_and_what_others_found_is(
    role: Role[Any, Any],
) -> None:
    assert "user_answers" not in role.foreign_fields
    assert "`user_answers`" in role.instructions
    assert {"answers", "hints"} <= set(role.foreign_fields)


@pytest.mark.parametrize("role", [PLANNER, AGENT_TASK_PLANNER])
def test_a_planner_is_told_when_no_task_concludes(role: Role[Any, Any]) -> None:
    assert "Unless `concludes` is false" in role.instructions


def test_the_checker_says_why_before_it_judges() -> None:
    verdict = answer_schema(SENTENCE_CHECKER.answer)["properties"]["verdicts"]["items"]

    assert list(verdict["properties"]) == ["id", "why", "verdict"]


def test_evidence_comes_before_the_verdict() -> None:
    entity = answer_schema(EXTRACTOR.answer)["properties"]["entities"]["items"]
    verdict = list(answer_schema(VERIFIER.answer)["properties"])

    assert list(entity["properties"]) == ["name", "quote", "value", "confidence"]
    assert verdict[:4] == ["missing", "contradictions", "completeness", "status"]


def test_a_deviation_belongs_to_an_agent_that_goes_on() -> None:
    failed, _, rest = ASSESSOR.instructions.partition("- `failed`:")[2].partition("\n")

    assert "deviation" not in failed
    assert rest.startswith("With `needs_more_steps`, `deviation`")
