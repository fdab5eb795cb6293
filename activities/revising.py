"""Self-revision: what was found may change what is still to do (TDP, seed 002)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from activities import interfaces
from activities.asking import Desk
from activities.begin import fitted
from activities.interfaces import implements
from activities.parts import Models, Requests
from activities.plan import state_of
from models.agents import AgentBrief
from models.errors import Lasting
from models.jobs import JobRequest
from models.listing import plan_for_prompt
from models.orders import ReviseOrder
from models.plan import Plan, Task, TaskKind, TaskStatus
from models.state import PlanReceipt
from planning.agents import Agents, packaged
from planning.merge import as_started
from planning.revision import Changed, Proposal, revised, revision_faults
from planning.validation import Ground
from roles.reviser import REVISER, Refined, Revised, ReviserTask
from storage import plans, receipts, revising
from storage.control import guidance_of
from storage.database import Database
from storage.nodes import CONTRADICTS
from storage.plans import REVISE_KEY, Revision, StoredTask
from tools.hub import Hub


@dataclass(frozen=True)
class Revising:
    """The activity that revises the plan by itself."""

    db: Database
    models: Models
    requests: Requests
    hub: Hub
    agents: Agents = field(default_factory=packaged)

    @implements(interfaces.revise_plan)
    async def revise_plan(self, order: ReviseOrder) -> PlanReceipt:
        key = f"{REVISE_KEY}{order.considered}#{order.attempt}"
        stored = await receipts.find(self.db, order, key, PlanReceipt)
        if stored is not None:
            return stored
        request = await self.requests.of(order)
        known = await plans.load_tasks(self.db, order.job_id)
        whole = as_started(Plan(tasks=tuple(each.task for each in known)), order.under_way)
        tools = await self.hub.only(request.servers).signatures()
        agents = self.agents.usable(tools)
        asking = _Asking(request, known, whole, agents, await guidance_of(self.db, order.job_id))
        desk = Desk.of(self.db, self.models, order, request, key)
        try:
            answer, faults = await asking.asked(desk)
        except Lasting as error:
            answer, faults = None, (str(error),)
        return await self._store(order, key, desk, whole, asking, answer, faults)

    async def _store(
        self,
        order: ReviseOrder,
        key: str,
        desk: Desk,
        whole: Plan,
        asking: "_Asking",
        answer: Revised | None,
        faults: Sequence[str],
    ) -> PlanReceipt:
        proposal = Proposal() if answer is None else proposed(asking.plan, answer)
        changed: Changed = revised(asking.plan, proposal)
        async with self.db.job(order.job_id, order.epoch) as write:
            await receipts.not_yet(write, key)
            await write.set(considered=order.considered)
            if answer is None:
                # A plan that was good enough to run goes on: a bad revision changes nothing.
                why = "; ".join(faults)[:2000]
                write.event("plan.revision_refused", considered=order.considered, why=why)
            receipt = PlanReceipt(tokens=desk.tokens)
            if changed.is_any:
                rest = tuple(task for task in whole.tasks if task.parent)
                after = Plan(tasks=changed.plan.tasks + rest)
                roots = {name: name for name in changed.added}
                change = Revision(
                    revision=0,
                    cause="revised",
                    explanation=answer.explanation if answer else "",
                    added=changed.added,
                    superseded=changed.removed,
                    changed=changed.fields,
                )
                number = await plans.store_revision(write, after, change, roots)
                await revising.rewrite(write, [after.by_id[name] for name in changed.refined])
                known = {each.task.id: each for each in asking.known}
                receipt = PlanReceipt(
                    revision=number,
                    added=fitted([state_of(after, name, name) for name in changed.added]),
                    superseded=changed.removed,
                    changed=tuple(
                        state_of(after, name, known[name].root).model_copy(
                            update={"attempt": known[name].attempt}
                        )
                        for name in changed.refined
                    ),
                    tokens=desk.tokens,
                )
            await receipts.keep(write, key, receipt)
        return receipt


@dataclass(frozen=True)
class _Asking:
    """What the reviser is asked, and what its answer must keep to."""

    request: JobRequest
    known: Sequence[StoredTask]
    whole: Plan
    agents: tuple[AgentBrief, ...]
    guidance: tuple[str, ...]
    plan: Plan = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plan", self.whole.of(""))

    @property
    def changeable(self) -> tuple[str, ...]:
        return tuple(task.id for task in self.plan.tasks if _has_not_begun(task))

    @property
    def ground(self) -> Ground:
        return Ground(
            tools={},
            used_ids=frozenset(self.whole.by_id),
            needs_final=not self.request.strategy.verify,
            agents=frozenset(agent.name for agent in self.agents),
        )

    async def asked(self, desk: Desk) -> tuple[Revised | None, Sequence[str]]:
        task = ReviserTask(
            question=self.request.question,
            plan=plan_for_prompt(self.plan.live),
            changeable=self.changeable,
            contradictions=tuple(
                f"{each.task.id}: {each.notes[CONTRADICTS]}"
                for each in self.known
                if each.notes.get(CONTRADICTS)
            ),
            agents=self.agents,
            used_ids=tuple(task.id for task in self.plan.tasks),
            guidance=self.guidance,
        )

        def check(answer: Revised) -> Sequence[str]:
            try:
                proposal = proposed(self.plan, answer)
            except ValidationError as error:
                return [str(error).splitlines()[0]]
            return revision_faults(self.plan, proposal, self.ground)

        asked = await desk.ask(REVISER, await desk.as_begun(REVISER, task), check=check)
        return asked.answer, asked.faults


def proposed(plan: Plan, answer: Revised) -> Proposal:
    """What the reviser wants, as tasks.

    Raises:
        pydantic.ValidationError: a value is out of its range.
    """
    return Proposal(
        refined=tuple(_refined(plan, each) for each in answer.refine),
        added=tuple(each.to_task() for each in answer.add),
        removed=tuple(answer.remove),
    )


def _refined(plan: Plan, wanted: Refined) -> Task:
    """The task in the reviser's words; one that is not in the plan is named as a fault later."""
    known = plan.by_id.get(wanted.id)
    if known is None:
        known = Task(id=wanted.id, kind=TaskKind.AGENT, description=wanted.description)
    return known.model_copy(
        update={
            "description": wanted.description,
            "criteria": known.criteria if wanted.criteria is None else wanted.criteria,
            "depends_on": known.depends_on
            if wanted.depends_on is None
            else tuple(dict.fromkeys(wanted.depends_on)),
        }
    )


def _has_not_begun(task: Task) -> bool:
    return task.status is TaskStatus.PENDING
