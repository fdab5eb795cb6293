"""The report: written over evidence ids, checked sentence by sentence, let through the gates."""

from collections.abc import Iterable
from dataclasses import dataclass

from activities import interfaces
from activities.asking import Desk
from activities.checking import Checking
from activities.citing import Marks, by_id, cited_report, sides_of, text_of
from activities.interfaces import implements
from activities.material import Material, read_material, task_for
from activities.parts import Models, Requests
from activities.writing import condensed, drafted
from models.errors import Lasting, ModelRefused, ReportInvalid
from models.evidence import BothSides, Cover, Gate, Report
from models.jobs import EXTRACTIVE, JobRequest, StopReason
from models.orders import ReportOrder, WorkOrder
from models.state import Halt, ReportReceipt
from planning.gates import closed, gates_of_job, gates_of_report
from planning.sentences import faults_of
from roles.synthesiser import Statement, SynthesiserAnswer, SynthesiserTask
from storage import evidence, jobs, questions, receipts
from storage.control import REPORT_KEY
from storage.database import Database, JobWrite
from storage.figures import figures_of

_TASK = "report"
"""What the report's own calls are of, in the ledger."""
_AGAIN = "again"
_NOTHING_KEPT = "No sentence of the summary was carried by the sources; the rest of the report was."


@dataclass(frozen=True)
class Written:
    """A report with what it cost."""

    report: Report
    tokens: int


@dataclass(frozen=True)
class Reporting:
    """The activity that writes the report."""

    db: Database
    models: Models
    requests: Requests

    @implements(interfaces.write_report)
    async def write_report(self, order: ReportOrder) -> ReportReceipt:
        stored = await receipts.find(self.db, order, REPORT_KEY, ReportReceipt)
        if stored is not None:
            return stored
        if order.asks_no_more:
            async with self.db.job(order.job_id, order.epoch) as write:
                await questions.withdraw_open(write)
        job = await jobs.load(self.db, order.job_id)
        material = await read_material(self.db, job, _TASK)
        shut = closed(gates_of_job(material.facts, material.found))
        if shut:
            return await self._refuse(order, 0, _gate_closed(shut))
        writer = Desk.of(self.db, self.models, order, job.request, _TASK)
        judge = self._judge(order, job.request)
        try:
            report = await _written(writer, judge, material)
        except Lasting as error:
            return await self._refuse(order, _tokens(writer, judge), _failed(error))
        return await self._deliver(order, material, Written(report, _tokens(writer, judge)))

    def _judge(self, order: WorkOrder, request: JobRequest) -> Desk | None:
        """Where sentences are judged by a model: the verifier's, or the job's if it is no rules."""
        chosen = request.strategy.verifier_model
        if not request.strategy.check_sentences or not (chosen or request.model != EXTRACTIVE):
            return None
        return Desk.of(self.db, self.models, order, request, _TASK, model=chosen or "")

    async def _deliver(
        self, order: WorkOrder, material: Material, written: Written
    ) -> ReportReceipt:
        report = written.report
        receipt = ReportReceipt(
            statements=len(report.sentences),
            citations=len(report.citations),
            first_lines=" ".join(each.text for each in report.summary)[:300],
            lacks_answer=report.answer is None,
            tokens=written.tokens,
        )
        async with self.db.job(order.job_id, order.epoch) as write:
            # Somebody may have retracted what the report cites while it was written.
            active = await evidence.active_ids(write)
            still = [item for item in material.found if item.id in active]
            gates = gates_of_report(material.plan, material.facts, report, still)
            if shut := closed(gates):
                receipt = ReportReceipt(halt=_gate_closed(shut), tokens=written.tokens)
                await _keep_refusal(write, order, receipt)
                return receipt
            shown = await figures_of(write.connection, order.job_id)
            seen = {"gates": gates, "figures": shown}
            await evidence.keep_report(write, report.model_copy(update=seen))
            if report.answer != material.job.answer:
                await write.set(answer=report.answer)
            facts = report.cover or Cover()
            write.event(
                "report.delivered",
                citations=receipt.citations,
                kept=facts.kept,
                hedged=facts.hedged,
                dropped=facts.dropped,
            )
            await receipts.keep(write, REPORT_KEY, receipt)
        return receipt

    async def _refuse(self, order: WorkOrder, tokens: int, halt: Halt) -> ReportReceipt:
        receipt = ReportReceipt(halt=halt, tokens=tokens)
        async with self.db.job(order.job_id, order.epoch) as write:
            await _keep_refusal(write, order, receipt)
        return receipt


async def _keep_refusal(write: JobWrite, order: WorkOrder, receipt: ReportReceipt) -> None:
    assert receipt.halt is not None
    write.event("report.refused", message=receipt.halt.message[:2000])
    await receipts.keep(write, receipts.of_run(REPORT_KEY, order.epoch), receipt)


async def _written(writer: Desk, judge: Desk | None, material: Material) -> Report:
    """The report with its sentences checked, its contradictions shown, and its cover.

    Raises:
        ReportInvalid: no version of it was valid.
        Passing: a model is busy.
        Lasting: a model refused.
    """
    whole = task_for(material)
    found = by_id(material.found)
    owners = {name: item.task_id for name, item in found.items()}
    task = await condensed(writer, whole, material.plan, owners)
    checking = Checking(found, _known(whole), _named(whole), judge)
    answer = await _mended(writer, task, checking)
    kept, cover = checking.weighed(answer)
    kept = _with_gap(_with_summary(kept), whole, material)
    marks = Marks(material.found)
    report = cited_report(whole, kept, marks, await writer.written_by())
    sides = tuple(_both_sides(material, marks))
    stop = material.summary.stop if material.summary else None
    return report.model_copy(
        update={
            "contradictions": sides,
            "citations": marks.citations,
            "cover": cover.model_copy(update={"stop": stop}),
        }
    )


async def _mended(writer: Desk, task: SynthesiserTask, checking: Checking) -> SynthesiserAnswer:
    """The draft; where sentences of it fail it is written once more, with the reasons."""
    first = await drafted(writer, task)
    refused = await checking.refused(first, place="")
    if not refused:
        return first
    try:
        again = task.model_copy(update={"refused": refused})
        second = await drafted(writer, again, place=_AGAIN)
    except ReportInvalid:
        return first  # what failed in it is dropped or hedged
    await checking.refused(second, place=_AGAIN)
    return second


def _known(task: SynthesiserTask) -> list[str]:
    """What every sentence may say: the question, the answer, the values that were found."""
    values = (value for each in task.results for value in each.values.values())
    found = [task.answer, *values, *(item.shows for item in task.evidence)]
    return [task.question, *(text_of(value) for value in found if value is not None)]


def _named(task: SynthesiserTask) -> list[str]:
    """What a sentence without a citation may speak of: what was looked for, and what is missing."""
    return [*(each.question for each in task.results), *task.gaps]


def _with_summary(answer: SynthesiserAnswer) -> SynthesiserAnswer:
    if answer.summary:
        return answer
    return answer.model_copy(update={"summary": [Statement(text=_NOTHING_KEPT)]})


def _with_gap(
    answer: SynthesiserAnswer, task: SynthesiserTask, material: Material
) -> SynthesiserAnswer:
    """Says of a concluded answer, where it is so, that nothing that was read has its words."""
    if not task.concludes or answer.conclusion in (None, ""):
        return answer
    read = [item.source_text for item in material.found]
    if not faults_of(text_of(answer.conclusion), read, _known(task)):
        return answer
    gap = f"The short answer, {text_of(answer.conclusion)!r}, stands in no source in these words."
    return answer.model_copy(update={"gaps": [*answer.gaps, gap]})


def _both_sides(material: Material, marks: Marks) -> Iterable[BothSides]:
    for each in material.facts.contradictions:
        ones, others = sides_of(each, material.plan, material.found)
        yield BothSides(
            one=marks.of(each.one, ones),
            other=marks.of(each.other, others),
            settled_by=each.settled_by,
        )


def _tokens(writer: Desk, judge: Desk | None) -> int:
    return writer.tokens + (judge.tokens if judge else 0)


def _gate_closed(shut: Iterable[Gate]) -> Halt:
    reasons = "; ".join(f"{gate.name}: {gate.seen}" for gate in shut)
    message = f"the report was not delivered, a gate is closed: {reasons}"[:4000]
    return Halt(reason=StopReason.REPORT_REFUSED, message=message)


def _failed(error: Lasting) -> Halt:
    if isinstance(error, ReportInvalid):
        message = f"the report was not delivered: {error}"
        return Halt(reason=StopReason.REPORT_REFUSED, message=message[:4000])
    refused = isinstance(error, ModelRefused)
    reason = StopReason.MODEL_REFUSED if refused else StopReason.REPORT_REFUSED
    return Halt(reason=reason, message=f"the report could not be written: {error}"[:4000])
