"""Plans that nobody plans: one agent for the whole question, or agents in a fixed order.

For comparison: VMAO's single agent and static pipeline (seed 003), and the step-by-step agent of
the planning-horizon paper (seed 001).
"""

from collections.abc import Sequence

from models.plan import FINAL_ANSWER, FINDINGS, Expected, Plan, Task, TaskKind

_ANSWER = Expected(
    name=FINAL_ANSWER, description="the answer to the question, short and in the form it asks for"
)


def fixed_plan(question: str, agents: Sequence[str]) -> Plan:
    """One agent that answers; or each in turn with all that came before, and then the answer."""
    if len(agents) == 1:
        return Plan(tasks=(_node(1, question, agents[0], (), _ANSWER),))
    chain: list[Task] = []
    for n, agent in enumerate(agents, start=1):
        before = tuple(task.id for task in chain)
        chain.append(_node(n, question, agent, before, FINDINGS))
    last = Task(
        id=f"T{len(chain) + 1}",
        kind=TaskKind.REASONING,
        description=f"Answer from what was found: {question}",
        expects=(_ANSWER,),
        depends_on=tuple(task.id for task in chain),
        include_context=True,
    )
    return Plan(tasks=(*chain, last))


def _node(n: int, question: str, agent: str, before: tuple[str, ...], yields: Expected) -> Task:
    return Task(
        id=f"T{n}",
        kind=TaskKind.AGENT,
        description=question,
        agent=agent,
        expects=(yields,),
        depends_on=before,
        include_context=True,
    )
