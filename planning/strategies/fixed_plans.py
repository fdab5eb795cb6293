"""Build fixed plans for baselines: one agent, or a fixed chain of agents, without a planner.

For comparison: the single agent and the static pipeline of VMAO, and the step-by-step agent of the
planning-horizon paper (docs/method.md names both).
"""

from collections.abc import Sequence

from holdfast.models.plans.research_plan import (
    FINAL_ANSWER,
    FINDINGS_ENTITY,
    OPENING_FINDINGS,
    OPENING_TASK,
    ExpectedEntity,
    Plan,
    Task,
    TaskKind,
)

_ANSWER = ExpectedEntity(
    name=FINAL_ANSWER, description="the answer to the question, short and in the form it asks for"
)


def opening_plan(question: str, agent: str) -> Plan:
    """Return the plan of a job that begins with a cited loop: this loop alone."""
    return Plan(tasks=(_agent_task(OPENING_TASK, question, agent, (), OPENING_FINDINGS),))


def fixed_plan(question: str, agents: Sequence[str]) -> Plan:
    """Return a plan of one agent, or of several agents in sequence and a final answer."""
    if len(agents) == 1:
        return Plan(tasks=(_agent_task("T1", question, agents[0], (), _ANSWER),))
    chain: list[Task] = []
    for n, agent in enumerate(agents, start=1):
        before = tuple(task.id for task in chain)
        chain.append(_agent_task(f"T{n}", question, agent, before, FINDINGS_ENTITY))
    last = Task(
        id=f"T{len(chain) + 1}",
        kind=TaskKind.REASONING,
        description=f"Answer from what was found: {question}",
        expects=(_ANSWER,),
        depends_on=tuple(task.id for task in chain),
        include_context=True,
    )
    return Plan(tasks=(*chain, last))


def _agent_task(
    task_id: str, question: str, agent: str, before: tuple[str, ...], yields: ExpectedEntity
) -> Task:
    return Task(
        id=task_id,
        kind=TaskKind.AGENT,
        description=question,
        agent=agent,
        expects=(yields,),
        depends_on=before,
        include_context=True,
    )
