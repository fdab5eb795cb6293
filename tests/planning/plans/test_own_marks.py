"""Tests that marks of other template languages are references where only their author means them."""

import pytest

from holdfast.planning.plans.own_marks import read_own_marks
from holdfast.planning.plans.plan_validation import PlanRules, plan_faults
from tests.support.jobs.plan_builders import TOOLS, agent_task, final_task, lookup_task, plan


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize(
    "mark", ["{{T1.value}}", "{{ T1.value }}", "${T1.value}", "$T1.value", "<T1.value>"]
)
def test_a_mark_that_the_prompt_does_not_hold_is_a_reference(mark: str) -> None:
    second = lookup_task("T2", "T1", query=f"governor of {mark} in 1900")
    drafted = plan(lookup_task("T1"), second, final_task("T3", "T2"))

    read = read_own_marks(drafted, '{"question":"Who governed it?"}')

    (given,) = read.tasks[1].inputs
    assert given.value == "governor of <JSON_PATH>T1.value</JSON_PATH> in 1900"
    assert given.is_reference
    assert plan_faults(read, PlanRules(tools=TOOLS)) == ()


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize("prompt", ['{"collection":"Look for {{T1.value}}"}', "<t1.VALUE>"])
def test_a_mark_that_may_be_copied_from_the_prompt_stays_and_is_refused(prompt: str) -> None:
    second = lookup_task("T2", "T1", query="governor of {{T1.value}}")
    drafted = plan(lookup_task("T1"), second, final_task("T3", "T2"))

    read = read_own_marks(drafted, prompt)

    assert read == drafted
    assert plan_faults(read, PlanRules(tools=TOOLS))


def test_a_mark_of_an_entity_that_nobody_promises_stays() -> None:
    drafted = plan(lookup_task("T1"), lookup_task("T2", "T1", query="of {{T1.other}} and {{name}}"))

    assert read_own_marks(drafted, "") == drafted


@pytest.mark.conformance("MOD-10")
def test_the_first_queries_of_an_agent_have_such_marks_too() -> None:
    agents = plan(agent_task("T1"), agent_task("T2", "T1", queries=["born {{T1.value}}"]))

    (queries,) = read_own_marks(agents, "").tasks[1].first_queries

    assert queries.value == ["born <JSON_PATH>T1.value</JSON_PATH>"]
