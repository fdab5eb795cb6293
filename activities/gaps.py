"""Filling gaps: what is incomplete is worked again, what is missing or disputed is asked anew."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from activities import interfaces
from activities.asking import Desk
from activities.gap_changes import Gaps, store_changes
from activities.gap_drafts import Rules, open_dispute
from activities.interfaces import implements
from activities.parts import Models, Requests
from activities.rounds import load_round
from models.errors import BadConfiguration, Lasting, ModelRefused
from models.jobs import StopReason
from models.orders import RoundOrder
from models.plan import Plan
from models.state import Halt, PlanReceipt
from models.verification import StopCondition, Verification
from planning.agents import Agents, packaged
from planning.contradictions import unsettled
from planning.validation import Ground
from planning.verdicts import may_add, to_retry
from roles.gap_planner import GAP_PLANNER, GapAnswer, GapTask, NewSubQuestion, SubQuestionSeen
from storage import plans, receipts, verifications
from storage.control import guidance_of
from storage.database import Database, JobWrite
from storage.gaps import Again
from storage.plans import StoredTask
from tools.hub import Hub


def key_of(iteration: int) -> str:
    """The key of the receipt, and the place of the calls in the ledger."""
    return f"fill:{iteration}"


@dataclass(frozen=True)
class GapFilling:
    """The activity that fills gaps."""

    db: Database
    models: Models
    requests: Requests
    hub: Hub
    agents: Agents = field(default_factory=packaged)

    @implements(interfaces.fill_gaps)
    async def fill_gaps(self, order: RoundOrder) -> PlanReceipt:
        stored = await receipts.find(self.db, order, key_of(order.iteration), PlanReceipt)
        if stored is not None:
            return stored
        open_ones = await self._gaps(order)
        desk = Desk.of(
            self.db, self.models, order, open_ones.known.request, key_of(order.iteration)
        )
        answer = GapAnswer()
        faults: tuple[str, ...] = ()
        if open_ones.has_any:
            task = await self._as_begun(desk, await self._task(order, open_ones))
            try:
                asked = await desk.ask(GAP_PLANNER, task, check=open_ones.rules.faults)
            except (ModelRefused, BadConfiguration) as error:
                return await self._halt(order, desk, error)
            except Lasting as error:
                faults = (str(error),)
            else:
                # Without a valid answer what is incomplete is worked again all the same.
                answer, faults = asked.answer or GapAnswer(), asked.faults
        return await self._store(order, desk, open_ones, answer, faults)

    async def _as_begun(self, desk: Desk, task: GapTask) -> GapTask:
        """The task as it was asked before a crash, where only the guidance is another since.

        Not that of a round which was forgotten because a person had tasks run again.
        """
        begun = await desk.as_begun(GAP_PLANNER, task)
        is_same = begun.model_copy(update={"guidance": task.guidance}) == task
        return begun if is_same else task

    async def _gaps(self, order: RoundOrder) -> Gaps:
        request = await self.requests.of(order)
        known = await load_round(self.db, order.job_id, request)
        tasks = tuple(await plans.load_tasks(self.db, order.job_id))
        verdicts = tuple(known.before.values())
        excused = {name for name, ruling in known.rulings.items() if ruling.accepts}
        plan = Plan(tasks=tuple(each.task for each in tasks))
        signatures = await self.hub.only(request.servers).signatures()
        agents = self.agents.usable(signatures)
        disputes = unsettled(verdicts, known.repairs.values())
        rules = Rules(
            ground=Ground(
                tools={tool.name: tool for tool in signatures},
                kept={task.id: task for task in plan.live if not task.parent},
                used_ids=frozenset(plan.by_id),
                promises_kpis=request.strategy.extraction,
                needs_final=False,
                agents=frozenset(agent.name for agent in agents),
            ),
            agents=agents,
            disputes=tuple(
                open_dispute(each, plan.by_id, known.findings, agents) for each in disputes
            ),
            may_add=may_add(verdicts),
        )
        return Gaps(known, tasks, verdicts, to_retry(verdicts, excused), rules)

    async def _task(self, order: RoundOrder, found: Gaps) -> GapTask:
        by_id = found.by_id
        return GapTask(
            question=found.known.request.question,
            sub_questions=tuple(_seen(by_id[each.task_id], each) for each in found.verdicts),
            incomplete=found.incomplete,
            contradictions=found.rules.disputes,
            agents=found.rules.agents,
            may_add=found.rules.may_add,
            used_ids=tuple(name for name in by_id if "." not in name),
            guidance=await guidance_of(self.db, order.job_id),
        )

    async def _store(
        self,
        order: RoundOrder,
        desk: Desk,
        found: Gaps,
        answer: GapAnswer,
        faults: Sequence[str],
    ) -> PlanReceipt:
        drafts = found.rules.wanted(answer)
        async with self.db.job(order.job_id, order.epoch) as write:
            await receipts.not_yet(write, key_of(order.iteration))
            _note_refused(write, answer, drafts, faults)
            again = _again(found, answer)
            changes = await store_changes(write, found, drafts, again, answer.explanation)
            fired = None if changes.revision else StopCondition.NOTHING_LEFT
            await verifications.close_round(write, order.iteration, fired)
            if fired is not None:
                write.event("stop.checked", iteration=order.iteration, fired=fired.value)
            receipt = changes.model_copy(update={"tokens": desk.tokens})
            await receipts.keep(write, key_of(order.iteration), receipt)
            return receipt

    async def _halt(self, order: RoundOrder, desk: Desk, error: Lasting) -> PlanReceipt:
        message = f"the gap planner's model call failed: {error}"[:4000]
        halt = Halt(reason=StopReason.MODEL_REFUSED, message=message)
        receipt = PlanReceipt(halt=halt, tokens=desk.tokens)
        async with self.db.job(order.job_id, order.epoch) as write:
            write.event("plan.refused", reason=halt.reason.value, message=message[:2000])
            # Of this run alone: a key that is refused today may be accepted by the next run.
            key = receipts.of_run(key_of(order.iteration), order.epoch)
            await receipts.keep(write, key, receipt)
        return receipt


def _seen(stored: StoredTask, verdict: Verification) -> SubQuestionSeen:
    task = stored.task
    return SubQuestionSeen(
        id=task.id,
        description=task.description,
        agent=task.agent or task.tool or task.kind.value,
        criteria=task.criteria,
        depends_on=task.depends_on,
        attempts=stored.attempt,
        status=verdict.status,
        completeness=verdict.completeness,
        missing=verdict.missing,
        recommendation=verdict.recommendation,
    )


def _note_refused(
    write: JobWrite, answer: GapAnswer, drafts: Sequence[NewSubQuestion], faults: Sequence[str]
) -> None:
    if faults:
        write.event("gaps.refused", faults=[fault[:300] for fault in faults[:20]])
    taken = {each.id for each in drafts}
    dropped: list[JsonValue] = [
        each.id[:64] for each in answer.new_sub_questions if each.id not in taken
    ]
    if dropped:
        why = "nothing is between 0.5 and 0.8 complete, and no open contradiction needs it"
        write.event("gaps.dropped", sub_questions=dropped, why=why)


def _again(found: Gaps, answer: GapAnswer) -> list[Again]:
    """All that is incomplete and ran, with what a person or the gap planner says to change."""
    hints = {each.id: each.hint for each in answer.retry_sub_questions}
    missing = {each.task_id: each.missing for each in found.verdicts}
    said = {name: ruling.hint for name, ruling in found.known.rulings.items() if ruling.hint}
    return [
        Again(
            task_id=each.task.id,
            hint=said.get(each.task.id) or hints.get(each.task.id, ""),
            missing=missing[each.task.id],
        )
        for each in found.worked()
    ]
