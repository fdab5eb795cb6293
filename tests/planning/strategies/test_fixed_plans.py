"""Tests for the fixed plans of the baselines."""

import pytest

from holdfast.models.plans.research_plan import TaskKind
from holdfast.planning.strategies.fixed_plans import fixed_plan
from holdfast.planning.strategies.strategy_presets import preset


@pytest.mark.conformance("VMAO-15")
def test_the_static_pipeline_is_a_chain_in_the_order_of_its_agents() -> None:
    plan = fixed_plan("Who?", preset("static-pipeline").strategy.agents)

    *chain, last = plan.tasks
    assert [task.agent for task in chain] == ["rag", "web", "financial", "analysis"]
    assert [task.depends_on for task in chain] == [(), ("T1",), ("T1", "T2"), ("T1", "T2", "T3")]
    assert all(task.include_context and task.description == "Who?" for task in chain)
    assert (last.kind, last.depends_on) == (TaskKind.REASONING, ("T1", "T2", "T3", "T4"))
    assert [entity.name for entity in last.expects] == ["final_answer"]


@pytest.mark.conformance("VMAO-15")
def test_the_single_agent_is_one_task_that_answers_the_question() -> None:
    (task,) = fixed_plan("Who?", preset("single-agent").strategy.agents).tasks

    assert (task.agent, task.depends_on) == ("generalist", ())
    assert [entity.name for entity in task.expects] == ["final_answer"]
