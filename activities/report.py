"""The report: written over evidence ids, checked, marked, and delivered only if all resolves."""

from collections.abc import Sequence
from dataclasses import dataclass

from activities import interfaces
from activities.asking import Desk
from activities.citing import cited_report, evidence_items, gaps_of, in_support, statement_faults
from activities.interfaces import implements
from activities.parts import Models, Requests
from activities.recovery import current_recovery
from models.errors import Lasting, ModelRefused
from models.evidence import Report, StoredEvidence
from models.jobs import JobRequest, StopReason
from models.orders import WorkOrder
from models.state import Halt, ReportReceipt
from roles.synthesiser import SYNTHESISER, SynthesiserAnswer, SynthesiserTask
from storage import evidence, jobs, plans, receipts
from storage.control import REPORT_KEY
from storage.database import Database
from storage.ledger import Ledger


@dataclass(frozen=True)
class Reporting:
    """The activity that writes the report."""

    db: Database
    models: Models
    requests: Requests

    @implements(interfaces.write_report)
    async def write_report(self, order: WorkOrder) -> ReportReceipt:
        stored = await receipts.find(self.db, order, REPORT_KEY, ReportReceipt)
        if stored is not None:
            return stored
        job = await jobs.load(self.db, order.job_id)
        plan = await plans.load_plan(self.db, order.job_id)
        found = in_support(plan, await evidence.evidence_of(self.db, order.job_id))
        broken = [item for item in found if not item.resolves]
        if broken:
            return await self._refuse(order, 0, _does_not_resolve(broken))
        task = SynthesiserTask(
            question=job.request.question,
            answer=job.answer,
            evidence=evidence_items(found),
            gaps=gaps_of(plan),
        )
        desk = self._desk(order, job.request)
        try:
            answer, faults = await _written(desk, task)
        except Lasting as error:
            return await self._refuse(order, desk.tokens, _model_failed(error))
        if answer is None:
            return await self._refuse(order, desk.tokens, _never_valid(faults))
        report = cited_report(task, answer, found, await desk.written_by())
        return await self._deliver(order, desk.tokens, report)

    def _desk(self, order: WorkOrder, request: JobRequest) -> Desk:
        return Desk(
            ledger=Ledger(self.db, recovery=current_recovery()),
            models=self.models,
            model=request.model,
            strategy=request.strategy,
            job_id=order.job_id,
            epoch=order.epoch,
            task_id="report",
            attempt=order.attempt,
        )

    async def _deliver(self, order: WorkOrder, tokens: int, report: Report) -> ReportReceipt:
        receipt = ReportReceipt(
            statements=len(report.summary) + len(report.findings),
            citations=len(report.citations),
            first_lines=" ".join(each.text for each in report.summary)[:300],
            tokens=tokens,
        )
        async with self.db.job(order.job_id, order.epoch) as write:
            await evidence.keep_report(write, report)
            write.event("report.delivered", citations=receipt.citations)
            await receipts.keep(write, REPORT_KEY, receipt)
        return receipt

    async def _refuse(self, order: WorkOrder, tokens: int, halt: Halt) -> ReportReceipt:
        receipt = ReportReceipt(halt=halt, tokens=tokens)
        async with self.db.job(order.job_id, order.epoch) as write:
            write.event("report.refused", message=halt.message[:2000])
            await receipts.keep(write, receipts.of_run(REPORT_KEY, order.epoch), receipt)
        return receipt


async def _written(
    desk: Desk, task: SynthesiserTask
) -> tuple[SynthesiserAnswer | None, Sequence[str]]:
    def check(answer: SynthesiserAnswer) -> Sequence[str]:
        return statement_faults(answer, task)

    asked = await desk.ask(SYNTHESISER, task, check=check)
    return asked.answer, asked.faults


def _does_not_resolve(broken: Sequence[StoredEvidence]) -> Halt:
    names = ", ".join(f"{item.address} for {item.task_id}.{item.entity}" for item in broken[:5])
    message = f"the report was not delivered: its evidence does not resolve: {names}"
    return Halt(reason=StopReason.REPORT_REFUSED, message=message)


def _model_failed(error: Lasting) -> Halt:
    refused = isinstance(error, ModelRefused)
    reason = StopReason.MODEL_REFUSED if refused else StopReason.REPORT_REFUSED
    return Halt(reason=reason, message=f"the report could not be written: {error}"[:4000])


def _never_valid(faults: Sequence[str]) -> Halt:
    message = f"the report was not delivered: {'; '.join(faults)}"[:4000]
    return Halt(reason=StopReason.REPORT_REFUSED, message=message)
