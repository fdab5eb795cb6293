"""Write the report of a job, check its sentences, run the delivery checks and store the report."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from holdfast.activities import interfaces
from holdfast.activities.interfaces import implements
from holdfast.activities.reports.absent_answer import (
    has_results,
    not_found_report,
    with_unproven,
)
from holdfast.activities.reports.report_drafting import condense_if_long, draft_report
from holdfast.activities.reports.report_inputs import (
    ReportInputs,
    read_report_inputs,
    synthesiser_task,
    unfinished_task_gaps,
)
from holdfast.activities.reports.sentence_checks import ReportSentenceChecks
from holdfast.activities.reports.sentence_correction import correct_sentences
from holdfast.activities.runtime.activity_frame import ReceiptScope, Record, Recorded, work_once
from holdfast.activities.runtime.activity_services import Services
from holdfast.activities.runtime.halt_from_error import halt_of_error
from holdfast.activities.runtime.model_call import ModelCaller, total_tokens
from holdfast.models.errors import Lasting, ReportInvalid
from holdfast.models.evidence.evidence import (
    CheckSummary,
    DeliveryCheck,
    Report,
    ReportContradiction,
)
from holdfast.models.jobs.activity_orders import AttemptOrder, ReportOrder
from holdfast.models.jobs.job_record import JobRequest, StopReason
from holdfast.models.jobs.job_state import Halt, ReportReceipt
from holdfast.models.loop.loop_results import LoopResult
from holdfast.models.plans.research_plan import Task, TaskStatus
from holdfast.models.reports.report_writer_messages import (
    Statement,
    SynthesiserAnswer,
    SynthesiserTask,
)
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL, AgentMethod
from holdfast.models.text.message_limits import MessageLimit, cut_message
from holdfast.models.text.value_text import value_as_text, value_in_words
from holdfast.models.wire import call_places, stored_keys
from holdfast.models.wire.event_kinds import EventKind
from holdfast.models.wire.role_names import RoleName
from holdfast.planning.reports.answer_calibration import calibrated_report
from holdfast.planning.reports.answer_confidence import (
    UNSTATED_ANSWER_CONFIDENCE,
    answer_confidence,
)
from holdfast.planning.reports.answer_route import answer_route
from holdfast.planning.reports.citation_marks import (
    CitationMarks,
    cited_report,
    statements_by_part,
)
from holdfast.planning.reports.delivery_checks import (
    failed_checks,
    job_delivery_checks,
    report_delivery_checks,
)
from holdfast.planning.reports.draft_remarks import with_supported_remarks
from holdfast.planning.reports.evidence_levels import with_evidence_levels
from holdfast.planning.reports.evidence_selection import (
    evidence_by_citation_id,
    evidence_of_both_sides,
    titled_source_text,
)
from holdfast.planning.reports.found_values import FoundValue, split_found_values
from holdfast.planning.reports.loop_report import loop_report
from holdfast.planning.reports.sentence_support import is_hedged, unsupported_parts
from holdfast.planning.reports.stated_answers import TitledQuote
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.evidence import evidence_rows
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.earlier_attempts import EarlierAttempts
from holdfast.storage.ledger.figure_rows import figures_of
from holdfast.storage.questions import question_rows

_NOTHING_KEPT = "No sentence of the summary was carried by the sources; the rest of the report was."


@dataclass(frozen=True)
class ReportActivities:
    """The activity that writes the report."""

    services: Services

    @implements(interfaces.write_report)
    async def write_report(self, order: ReportOrder) -> ReportReceipt:
        db, work = self.services.db, partial(self._work, order)
        return await work_once(db, order, stored_keys.REPORT_RECEIPT, ReportReceipt, work)

    async def _work(self, order: ReportOrder) -> Record[ReportReceipt]:
        db = self.services.db
        if order.withdraws_questions:
            async with db.job(order.job_id, order.epoch, order.seen) as tx:
                await question_rows.withdraw_open_questions(tx)
        job = await job_rows.load_job(db, order.job_id)
        inputs = await read_report_inputs(db, job, call_places.REPORT_LABEL)
        failed = failed_checks(job_delivery_checks(inputs.facts, inputs.found))
        if failed:
            return partial(_record_refusal, _delivery_check_halt(failed), 0)
        if not has_results(inputs):
            return await self._delivery(inputs, not_found_report(inputs))
        loop = _loop_result(inputs)
        if loop is not None:
            return await self._delivery(inputs, _report_of_loop(inputs, loop), is_of_loop=True)
        writer = self._model_caller(order, job.request)
        judge = self._judge(order, job.request)
        try:
            report = await _write_report(writer, judge, inputs)
        except Lasting as error:
            tokens = total_tokens(writer, judge)
            return partial(_record_refusal, _report_error_halt(error), tokens)
        return await self._delivery(inputs, report, total_tokens(writer, judge))

    async def _delivery(
        self, inputs: ReportInputs, report: Report, tokens: int = 0, *, is_of_loop: bool = False
    ) -> Record[ReportReceipt]:
        calibrated = self._calibrated(inputs, report, is_of_loop=is_of_loop)
        whole = await with_unproven(self.services.db, inputs, calibrated)
        return partial(_record_delivery, inputs, whole, tokens)

    def _calibrated(self, inputs: ReportInputs, report: Report, *, is_of_loop: bool) -> Report:
        """The report with the confidence that answers of its route and its model have earned."""
        if report.answer is None:
            return report
        request = inputs.job.request
        quotes = [TitledQuote(each.quote, each.title) for each in report.citations]
        route = answer_route(
            inputs.plan, request.question, report.answer, quotes, is_of_loop=is_of_loop
        )
        return calibrated_report(report, route, self.services.calibrations.get(request.model, {}))

    def _judge(self, order: AttemptOrder, request: JobRequest) -> ModelCaller | None:
        """The caller of the model that judges sentences, if a model judges them.

        The built-in model judges only where it was named as the verifier.
        """
        strategy = request.strategy
        model = strategy.model_of_role(RoleName.SENTENCE_CHECKER, request.model)
        is_a_model = strategy.verifier_model or model != EXTRACTIVE_MODEL
        if not strategy.check_sentences or not is_a_model:
            return None
        return self._model_caller(order, request)

    def _model_caller(self, order: AttemptOrder, request: JobRequest) -> ModelCaller:
        # The answers before a refusal make the report that was refused.
        counted = EarlierAttempts(since=StopReason.REPORT_REFUSED)
        return ModelCaller.of(
            self.services, order, request, call_places.REPORT_LABEL, earlier_attempts=counted
        )


def _loop_result(inputs: ReportInputs) -> LoopResult | None:
    """The result of the loop whose sentences are the report, if one loop did all the work."""
    loop = _reporting_loop(inputs)
    if loop is None:
        return None
    result = inputs.loops.get(loop.id)
    is_needed = loop.is_opening and _has_other_results(inputs)
    return None if result is None or (is_needed and result.handover) else result


def _reporting_loop(inputs: ReportInputs) -> Task | None:
    """The task that answers the whole question as a loop."""
    own = [task for task in inputs.plan.live if not task.parent]
    opening = next((task for task in own if task.is_opening), None)
    if opening is not None or inputs.job.request.strategy.agent_method is not AgentMethod.LOOP:
        return opening
    return next((task for task in own if task.is_final), None)


def _has_other_results(inputs: ReportInputs) -> bool:
    """True if a task of the plan found something after the opening loop."""
    own = (task for task in inputs.plan.live if not task.parent and not task.is_opening)
    return any(task.status is TaskStatus.DONE for task in own)


async def _record_delivery(
    inputs: ReportInputs, report: Report, tokens: int, tx: JobTransaction
) -> Recorded[ReportReceipt]:
    """Store the report, unless a delivery check fails now."""
    # Somebody may have retracted evidence that the report cites while the report was written.
    active = await evidence_rows.supporting_evidence_ids(tx)
    evidence = [item for item in inputs.found if item.id in active]
    checks = report_delivery_checks(inputs.plan, inputs.facts, report, evidence)
    if failed := failed_checks(checks):
        return await _record_refusal(_delivery_check_halt(failed), tokens, tx)
    figures = await figures_of(tx.connection, tx.job_id)
    leveled = with_evidence_levels(report, inputs.job.request.strategy.primary_sources)
    delivered = leveled.model_copy(update={"delivery_checks": checks, "figures": figures})
    await evidence_rows.keep_report(tx, delivered)
    if report.answer != inputs.job.answer:
        await tx.set(answer=report.answer)
    _record_delivered(report, tx)
    return Recorded(_delivery_receipt(report, tokens))


def _report_of_loop(inputs: ReportInputs, loop: LoopResult) -> Report:
    gaps = unfinished_task_gaps(inputs.tasks)
    request = inputs.job.request
    question = request.question
    model = request.strategy.model_of_role(RoleName.LOOP_AGENT, request.model)
    report = loop_report(question, loop, inputs.found, gaps)
    return report.model_copy(update={"model": model})


def _record_delivered(report: Report, tx: JobTransaction) -> None:
    counts = report.check_summary or CheckSummary()
    of_collection = {} if report.documents is None else {"documents": report.documents}
    tx.event(
        EventKind.REPORT_DELIVERED,
        citations=len(report.citations),
        kept=counts.kept,
        hedged=counts.hedged,
        dropped=counts.dropped,
        **of_collection,
    )


def _delivery_receipt(report: Report, tokens: int) -> ReportReceipt:
    return ReportReceipt(
        statements=len(report.sentences),
        citations=len(report.citations),
        first_lines=" ".join(statement.text for statement in report.summary)[:300],
        lacks_answer=report.answer is None,
        tokens=tokens,
    )


async def _record_refusal(halt: Halt, tokens: int, tx: JobTransaction) -> Recorded[ReportReceipt]:
    message = cut_message(halt.message, MessageLimit.ENTRY)
    tx.event(EventKind.REPORT_REFUSED, message=message, reason=halt.reason.value)
    return Recorded(ReportReceipt(halt=halt, tokens=tokens), ReceiptScope.RUN)


async def _write_report(
    writer: ModelCaller, judge: ModelCaller | None, inputs: ReportInputs
) -> Report:
    """The report with checked sentences, its contradictions and the summary of its checks.

    Raises:
        ReportInvalid: no version of the report was valid.
        Passing: a model is busy.
        Lasting: a model refused.
    """
    whole = synthesiser_task(inputs)
    evidence = evidence_by_citation_id(inputs.found)
    owners = {name: item.task_id for name, item in evidence.items()}
    task = await condense_if_long(writer, whole, inputs.plan, owners)
    values = split_found_values(_found_values(whole), inputs.found)
    checking = ReportSentenceChecks(
        evidence,
        known=[whole.question, *values.computed],
        named=[*_permitted_topics(whole), *values.read],
        shows={item.id: item.shows for item in whole.evidence},
        model_caller=judge,
    )
    answer, refused = await _draft_with_one_correction(writer, task, checking)
    kept, summary = checking.weighed(answer)
    sources = [titled_source_text(item) for item in inputs.found]
    kept = with_supported_remarks(
        _with_summary(kept), sources, [*_permitted_texts(whole), *_permitted_topics(whole)]
    )
    unstated = _unstated_parts(kept, whole, inputs)
    cited = {owners[name] for each in (*kept.summary, *kept.conclusions) for name in each.evidence}
    confidence = answer_confidence(inputs.tasks, inputs.verdicts, cited)
    if unstated and confidence is not None:
        confidence = min(confidence, UNSTATED_ANSWER_CONFIDENCE)
    marks = CitationMarks(inputs.found)
    report = cited_report(
        whole,
        _with_gap(kept, unstated),
        marks,
        confidence=confidence,
        model=await writer.written_by(),
    )
    sides = tuple(_both_sides(inputs, marks))
    stop = inputs.summary.stop if inputs.summary else None
    return report.model_copy(
        update={
            "contradictions": sides,
            "citations": marks.citations,
            "check_summary": summary.model_copy(update={"stop": stop, "refused": refused}),
        }
    )


async def _draft_with_one_correction(
    writer: ModelCaller, task: SynthesiserTask, checking: ReportSentenceChecks
) -> tuple[SynthesiserAnswer, int]:
    """Draft the report; sentences that fail the checks are written once more, each alone.

    Returns the draft, and how many of its sentences were sent back.
    """
    draft = await draft_report(writer, task)
    refused = await checking.refused(draft, place="")
    if not refused:
        return draft, 0
    corrected = await correct_sentences(writer, task, draft, refused)
    await checking.refused(corrected, place=call_places.CORRECTED_REPORT)
    return corrected, len(refused)


def _permitted_texts(task: SynthesiserTask) -> list[str]:
    """The texts that the answer may use: the question, the found values, what evidence shows."""
    values = (value.text for value in _found_values(task))
    return [task.question, *values, *(item.shows for item in task.evidence)]


def _found_values(task: SynthesiserTask) -> list[FoundValue]:
    results = ((each, result.task) for result in task.results for each in result.values.values())
    found = ((task.answer, ""), *results)
    return [FoundValue(value_as_text(each), of) for each, of in found if each is not None]


def _permitted_topics(task: SynthesiserTask) -> list[str]:
    """The texts that a sentence without a citation may use: the sub-questions and the gaps."""
    return [*(result.question for result in task.results), *task.gaps]


def _with_summary(answer: SynthesiserAnswer) -> SynthesiserAnswer:
    if answer.summary:
        return answer
    return answer.model_copy(update={"summary": [Statement(text=_NOTHING_KEPT)]})


def _unstated_parts(
    answer: SynthesiserAnswer, task: SynthesiserTask, inputs: ReportInputs
) -> list[str]:
    """Return what is wrong with a concluded answer: its names and numbers that no source has."""
    if not task.concludes or answer.conclusion in (None, ""):
        return []
    sources = [item.source_text for item in inputs.found]
    # What a kept sentence computes, the answer may repeat: the sentence was checked. What is only
    # suggested by its sources proves no answer.
    said = (each.text for part in statements_by_part(answer).values() for each in part)
    kept = [each for each in said if not is_hedged(each)]
    known = [*_permitted_texts(task), *kept]
    conclusion = value_in_words(answer.conclusion)
    return unsupported_parts(conclusion, sources, known, searched="source that was read")


def _with_gap(answer: SynthesiserAnswer, unstated: list[str]) -> SynthesiserAnswer:
    if not unstated:
        return answer
    gap = f"The short answer was concluded, and no source states it: {'; '.join(unstated)}."
    return answer.model_copy(update={"gaps": [*answer.gaps, gap]})


def _both_sides(inputs: ReportInputs, marks: CitationMarks) -> Iterable[ReportContradiction]:
    for each in inputs.facts.contradictions:
        ones, others = evidence_of_both_sides(each, inputs.plan, inputs.found)
        yield ReportContradiction(
            one=marks.of(each.one, ones),
            other=marks.of(each.other, others),
            settled_by=each.settled_by,
        )


def _delivery_check_halt(failed: Iterable[DeliveryCheck]) -> Halt:
    reasons = "; ".join(f"{check.name}: {check.detail}" for check in failed)
    message = cut_message(
        f"the report was not delivered, a delivery check failed: {reasons}", MessageLimit.FAILURE
    )
    return Halt(reason=StopReason.REPORT_REFUSED, message=message)


def _report_error_halt(error: Lasting) -> Halt:
    if isinstance(error, ReportInvalid):
        message = f"the report was not delivered: {error}"
        return Halt(
            reason=StopReason.REPORT_REFUSED, message=cut_message(message, MessageLimit.FAILURE)
        )
    failed = "the report could not be written"
    return halt_of_error(error, failed, otherwise=StopReason.REPORT_REFUSED)
