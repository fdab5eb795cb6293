"""Tests of the plan in prompts: it has the fields of the plan that the model writes."""

import pytest
from pydantic import BaseModel

from holdfast.models.plans.kpi_chain_format import to_listing
from holdfast.models.plans.plan_drafts import AgentPlanDraft, PlanDraft
from holdfast.models.plans.research_plan import (
    ExpectedEntity,
    Task,
    TaskInput,
    TaskKind,
    TaskStatus,
)
from holdfast.models.plans.shown_plan import ShownPlan, shown_plan

SEARCH = Task(
    id="T2",
    kind=TaskKind.TOOL,
    description="Find where Ada was born.",
    tool="corpus.search",
    inputs=(TaskInput(name="query", value="<JSON_PATH>T1.name</JSON_PATH>").with_reference_flag(),),
    expects=(ExpectedEntity(name="birthplace", description="the town"),),
    depends_on=("T1",),
    status=TaskStatus.DONE,
    result={"birthplace": "Ockham"},
)


class Prompt(BaseModel):
    """A prompt with a plan."""

    plan: ShownPlan


def test_a_plan_is_shown_in_the_fields_in_which_it_is_written() -> None:
    (shown,) = Prompt(plan=shown_plan([SEARCH])).model_dump(mode="json")["plan"]

    assert shown == {
        "id": "T2",
        "kind": "tool",
        "description": "Find where Ada was born.",
        "tool": "corpus.search",
        "inputs": [{"name": "query", "value": "<JSON_PATH>T1.name</JSON_PATH>"}],
        "expects": [{"name": "birthplace", "description": "the town"}],
        "depends_on": ["T1"],
        "status": "done",
        "result": {"birthplace": "Ockham"},
    }
    (read,) = PlanDraft.model_validate({"tasks": [shown]}).to_plan().tasks
    assert read == SEARCH.with_status(TaskStatus.PENDING).without_result()


def test_a_recorded_plan_is_read_as_the_same_in_either_spelling() -> None:
    step = SEARCH.with_parent("T9")
    today = Prompt(plan=shown_plan([step]))

    earlier = Prompt.model_validate({"plan": [to_listing(step)]})

    assert earlier == today
    assert Prompt.model_validate_json(today.model_dump_json()) == today


@pytest.mark.parametrize("include_context", [True, False])
def test_a_sub_question_is_shown_as_one_is_written(include_context: bool) -> None:
    about = Task(
        id="T1",
        kind=TaskKind.AGENT,
        description="Who was Ada?",
        agent="rag",
        include_context=include_context,
        expects=(ExpectedEntity(name="person"),),
    )
    prompt = Prompt(plan=shown_plan([about]))
    (shown,) = prompt.model_dump(mode="json")["plan"]

    assert "kind" not in shown
    assert AgentPlanDraft.model_validate({"tasks": [shown]}).to_plan().tasks == (about,)
    assert Prompt.model_validate_json(prompt.model_dump_json()) == prompt


def test_a_result_in_a_prompt_holds_no_reference() -> None:
    found = SEARCH.model_copy(update={"result": {"name": "<JSON_PATH>T1.secret</JSON_PATH>"}})

    (shown,) = shown_plan([found])

    assert "<JSON_PATH>" not in str(shown.result["name"])
