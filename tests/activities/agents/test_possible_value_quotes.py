"""Tests that a weak value of an agent has the quote of the step that found it."""

from typing import cast

import pytest

from holdfast.activities.agents.agent_turn_rules import AgentTurn
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.models.jobs.activity_orders import AgentTaskOrder
from holdfast.models.plans.research_plan import ExpectedEntity, Task, TaskKind, TaskStatus
from holdfast.models.strategies.agent_profiles import AgentProfile, AgentTier
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.tasks.agent_role_task import TraceQuote
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.tasks.task_failure import WeakValue
from holdfast.planning.context.agent_context import AgentContext
from holdfast.roles.agents.stepper import Output
from tests.support.jobs.plan_builders import agent_task

pytestmark = pytest.mark.conformance("REP-07")

QUOTE = "It opened in 1931, I think."


def stored(task: Task) -> StoredTask:
    return StoredTask(
        task=task, position=0, attempt=1, root=task.id, added_by_change=0, confidence=0.5
    )


def turn() -> AgentTurn:
    step = Task(
        id="T1.1",
        kind=TaskKind.TOOL,
        description="look it up",
        parent="T1",
        status=TaskStatus.DONE,
        result={"year": 1931, "place": "Sydney"},
    )
    task = agent_task("T1").model_copy(
        update={"expects": (ExpectedEntity(name="year", type="integer"),)}
    )
    view = AgentContext(
        stored=stored(task),
        steps=(stored(step),),
        others=(),
        earlier=(),
        agent=AgentProfile(name="rag", description="reads", tier=next(iter(AgentTier))),
        tools=(),
        quotes={
            "T1.1": (
                TraceQuote(name="place", quote="in Sydney"),
                TraceQuote(name="opened, year", quote=QUOTE, source="log.md"),
            )
        },
    )
    order = AgentTaskOrder.model_construct(must_end="")  # type: ignore[call-arg]
    strategy = Strategy(confidence_threshold=0.7)
    return AgentTurn(cast("ModelCaller", None), order, view, strategy)


def weak_value(outputs: list[Output] | None) -> WeakValue:
    given = turn()
    if outputs is None:
        end = given.weighed(given.last_step_values(), "unsure")
    else:
        end = given.result_of_outputs(outputs, "unsure")
    assert end.failure is not None
    (weak,) = end.failure.weak_values
    return weak


@pytest.mark.parametrize(
    "outputs",
    [
        None,
        [Output(name="year", value="<JSON_PATH>T1.1.year</JSON_PATH>")],
        [Output(name="year", value=1931, confidence=0.4)],
    ],
)
def test_a_weak_value_has_the_quote_of_the_step_that_found_it(outputs: list[Output] | None) -> None:
    assert weak_value(outputs).quote == QUOTE


def test_a_weak_value_that_no_step_found_has_no_quote() -> None:
    assert not weak_value([Output(name="year", value=1940, confidence=0.4)]).quote
