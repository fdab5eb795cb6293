"""Check the gap planner's proposals against the rules, and drop proposals that are not allowed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from holdfast.models.plans.research_plan import Plan, Task
from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.tasks.task_finding import TaskFinding
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.text.words import word_similarity, words_of
from holdfast.models.verification.gap_plan_drafts import (
    GapPlannerAnswer,
    NewSubQuestion,
    OpenContradiction,
)
from holdfast.models.verification.verification_verdicts import Contradiction
from holdfast.planning.plans.plan_validation import PlanRules, plan_faults
from holdfast.planning.verification.contradiction_rules import independent_agents

_MOST_ADDRESSES = 5
_LONGEST_CLAIM = 120


@dataclass(frozen=True)
class GapRules:
    """The rules that the gap planner's proposals must keep."""

    ground: PlanRules
    agents: tuple[AgentBrief, ...]
    disputes: tuple[OpenContradiction, ...]
    may_add: bool

    def wanted(self, answer: GapPlannerAnswer) -> list[NewSubQuestion]:
        """The proposals that are allowed; all others are dropped unchecked."""
        pairs = [set(each.tasks) for each in self.disputes]
        return [
            each
            for each in answer.new_sub_questions
            if set(each.settles) in pairs or (self.may_add and not each.settles)
        ]

    def disputes_of(self, drafts: Sequence[NewSubQuestion]) -> Mapping[str, OpenContradiction]:
        """The contradiction that each proposal looks into, by the proposal's id.

        Proposals for the same tasks take the contradiction with most words in common, and each
        contradiction has one before any has two.
        """
        found: dict[str, OpenContradiction] = {}
        waiting = [each for each in drafts if each.settles]
        while waiting:
            free = [each for each in self.disputes if each not in found.values()]
            pairs = [(d, e) for d in waiting for e in free if set(e.tasks) == set(d.settles)]
            pairs = pairs or [
                (d, e) for d in waiting for e in self.disputes if set(e.tasks) == set(d.settles)
            ]
            if not pairs:
                break
            draft, dispute = max(pairs, key=lambda pair: _shared_words(*pair))
            found[draft.id] = dispute
            waiting = [each for each in waiting if each.id != draft.id]
        return found

    def faults(self, answer: GapPlannerAnswer) -> Sequence[str]:
        """What is wrong with the proposals that are allowed, in words to act on."""
        drafts = self.wanted(answer)
        try:
            plan = Plan(tasks=tuple(each.to_task() for each in drafts))
        except ValidationError as error:
            return [f"{each['loc']}: {each['msg']}" for each in error.errors(include_url=False)]
        found = list(plan_faults(plan, self.ground)) if plan.tasks else []
        return [*found, *self._agent_faults(plan.tasks), *self._dispute_faults(drafts)]

    def _agent_faults(self, tasks: Iterable[Task]) -> Iterator[str]:
        known = [each.name for each in self.agents]
        for task in tasks:
            if task.agent not in known:
                yield f"task {task.id!r}: no agent {task.agent!r}; agents: {', '.join(known)}"
            if "." in task.id:
                yield f"task {task.id!r}: an id with a dot is that of an agent's step"

    def _dispute_faults(self, drafts: Sequence[NewSubQuestion]) -> Iterator[str]:
        """Each contradiction is looked into in another place than both sides have looked."""
        settled = self.disputes_of(drafts)
        agents = {draft.id: draft.agent for draft in drafts}
        for name, dispute in settled.items():
            if dispute.elsewhere and agents[name] not in dispute.elsewhere:
                yield (
                    f"task {name!r}: agent {agents[name]!r} looks where "
                    f"{' and '.join(dispute.tasks)} have looked; take {_any_of(dispute.elsewhere)}"
                )
        for dispute in self.disputes:
            if dispute not in settled.values():
                names = " and ".join(dispute.tasks)
                yield (
                    f"no new sub-question settles the contradiction of {names}: "
                    f"{shorten_text(dispute.one, _LONGEST_CLAIM)!r} against "
                    f"{shorten_text(dispute.other, _LONGEST_CLAIM)!r}"
                )


def _shared_words(draft: NewSubQuestion, dispute: OpenContradiction) -> float:
    expected = " ".join(f"{each.name} {each.description}" for each in draft.expects)
    asked = words_of(f"{draft.description} {draft.criteria} {expected}")
    return word_similarity(asked, words_of(f"{dispute.one} {dispute.other}"))


def _any_of(names: Iterable[str]) -> str:
    return " or ".join(repr(name) for name in names)


def open_contradiction(
    dispute: Contradiction,
    tasks: Mapping[str, Task],
    findings: Mapping[str, TaskFinding],
    agents: Sequence[AgentBrief],
) -> OpenContradiction:
    """The contradiction with the agents that use other tools than its two sides."""
    sides = [tasks[name] for name in dispute.tasks if name in tasks]
    tools = frozenset[str]().union(*(_tools_used(side, findings, agents) for side in sides))
    return OpenContradiction(
        one=dispute.one,
        other=dispute.other,
        tasks=dispute.tasks,
        elsewhere=independent_agents(agents, {side.agent for side in sides}, tools),
    )


def _tools_used(
    task: Task, findings: Mapping[str, TaskFinding], agents: Sequence[AgentBrief]
) -> frozenset[str]:
    """The tools that a side called; where that is not known, those that its agent has."""
    called = findings[task.id].tools if task.id in findings else frozenset[str]()
    has = next((each.tools for each in agents if each.name == task.agent), ())
    return called or frozenset(has)


def tie_breaker_hint(dispute: OpenContradiction, findings: Mapping[str, TaskFinding]) -> str:
    """A hint that names the known sources, so that the tie-breaker looks elsewhere."""
    known = dict.fromkeys(
        passage.address
        for name in dispute.tasks
        if name in findings
        for passage in findings[name].passages
    )
    listed = ", ".join(list(known)[:_MOST_ADDRESSES])
    return f"Two results disagree on this. Look elsewhere than: {listed}" if listed else ""
