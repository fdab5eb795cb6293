"""Run one turn of an agent task, store the decision and return a receipt."""

from dataclasses import dataclass, replace
from functools import partial

from pydantic import JsonValue

from holdfast.activities import interfaces
from holdfast.activities.agents.agent_question_routing import (
    AgentQuestion,
    RoutingResult,
    route_question,
)
from holdfast.activities.agents.agent_turn_rules import (
    AgentResult,
    AgentTurn,
    TurnDecision,
    failed_result,
)
from holdfast.activities.agents.cited_loop import CitedLoop
from holdfast.activities.agents.plan_ahead_turn import plan_ahead_decision
from holdfast.activities.agents.step_by_step_turn import step_by_step_decision
from holdfast.activities.interfaces import implements
from holdfast.activities.runtime.activity_frame import ReceiptScope, Record, Recorded, work_once
from holdfast.activities.runtime.activity_services import Services
from holdfast.activities.runtime.interceptors.work_time_interceptor import worked_seconds
from holdfast.activities.runtime.model_call import ModelCaller, total_tokens
from holdfast.activities.runtime.pending_task_states import fit_tasks_to_page
from holdfast.activities.runtime.plan_receipts import added_states
from holdfast.activities.runtime.task_outcome import outcome_of_error, result_preview
from holdfast.models.calls.job_setting import JobSetting
from holdfast.models.errors import Lasting
from holdfast.models.jobs.activity_orders import AgentTaskOrder
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.jobs.job_state import AgentTaskReceipt, Halt, TaskReceipt
from holdfast.models.loop.loop_results import LoopResult
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.research_plan import OPENING_FINDINGS, TaskStatus
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL, Horizon
from holdfast.models.tasks.agent_role_task import AnsweredQuestion
from holdfast.models.tasks.stored_task import StoredTask, plan_of
from holdfast.models.tasks.task_failure import Component
from holdfast.models.wire.event_kinds import EventKind
from holdfast.models.wire.role_names import RoleName
from holdfast.planning.context.agent_context import (
    AgentContext,
    build_agent_context,
    find_agent_task,
)
from holdfast.planning.loop.handover import handover_in_words, open_links
from holdfast.planning.loop.loop_tasks import works_as_loop
from holdfast.planning.strategies.agent_catalogue import tools_of
from holdfast.storage.core import receipt_rows
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.jobs.job_control_rows import CALL_AGAIN_NOTE
from holdfast.storage.plans import agent_task_rows, plan_change_rows, task_queries
from holdfast.storage.plans.given_quote_queries import quotes_of_steps
from holdfast.storage.plans.loop_result_rows import store_loop_result
from holdfast.storage.plans.task_queries import ANSWERED_NOTE
from holdfast.storage.plans.transcript_rows import LoopAttempt
from holdfast.storage.questions import question_rows


@dataclass(frozen=True)
class AgentActivities:
    """The activity that lets an agent take a turn."""

    services: Services

    @implements(interfaces.advance_agent)
    async def advance_agent(self, order: AgentTaskOrder) -> AgentTaskReceipt:
        work = partial(self._turn, order)
        return await work_once(self.services.db, order, order.receipt_key, AgentTaskReceipt, work)

    async def _turn(self, order: AgentTaskOrder) -> Record[AgentTaskReceipt]:
        services = self.services
        request = await services.requests.of(order)
        model_caller = await self._model_caller(order, request)
        judge = self._judge(order, request)
        try:
            view, decision, routed = await self._decide_or_route(
                order, request, model_caller, judge
            )
            halt = None
        except Lasting as error:
            outcome = outcome_of_error(error, Component.AGENT)
            view, routed = await self._view(order), RoutingResult()
            decision = TurnDecision(end=AgentResult(failure=outcome.failure))
            halt = outcome.halt
        tasks = await task_queries.load_tasks(services.db, order.job_id)
        spent = total_tokens(model_caller, judge), worked_seconds()
        turn = _DecidedTurn(order, view, tasks, decision, routed, *spent, halt)
        return partial(_record_turn, turn)

    async def _decide_or_route(
        self,
        order: AgentTaskOrder,
        request: JobRequest,
        model_caller: ModelCaller,
        judge: ModelCaller | None,
    ) -> tuple[AgentContext, TurnDecision, RoutingResult]:
        """The agent's decision; a question that the job can answer is answered first.

        Raises:
            Passing: the model is busy; the ledger keeps the calls that were answered.
            Lasting: the model refused.
        """
        while True:
            view = await self._view(order)
            if absence := self.services.agents.absence(view.agent.name):
                return view, TurnDecision(end=failed_result(absence)), RoutingResult()
            turn = AgentTurn(model_caller, order, view, request.strategy)
            decision = await self._decide_turn(_apply_step_limit(turn), request, judge)
            if not decision.question:
                return view, decision, RoutingResult()
            question = AgentQuestion(
                task_id=order.task_id,
                text=decision.question,
                default=decision.default or None,
                is_for_user=_is_loop_of_whole_question(turn),
            )
            routed = await route_question(self.services.db, model_caller, question)
            if routed.answer is None:
                return view, decision, routed

    async def _decide_turn(
        self, turn: AgentTurn, request: JobRequest, judge: ModelCaller | None
    ) -> TurnDecision:
        """The agent's decision in this turn.

        Raises:
            Passing: the model is busy; the ledger keeps the calls that were answered.
            Lasting: the model refused.
        """
        strategy = turn.strategy
        if works_as_loop(turn.view.task, strategy):
            loop = await CitedLoop.open(self.services.db, turn, judge, request)
            return await loop.decide()
        takes_steps = Horizon.STEP in (strategy.horizon, strategy.agent_horizon)
        return await (step_by_step_decision(turn) if takes_steps else plan_ahead_decision(turn))

    def _judge(self, order: AgentTaskOrder, request: JobRequest) -> ModelCaller | None:
        """The caller of the model that judges answers; None if rules alone do.

        Rules alone judge where the judge would be the built-in model.
        """
        strategy = request.strategy
        model = strategy.model_of_role(RoleName.ANSWER_JUDGE, request.model)
        if not strategy.check_sentences or model == EXTRACTIVE_MODEL:
            return None
        return ModelCaller.of(self.services, order, request, order.task_id)

    async def _answers(self, order: AgentTaskOrder) -> tuple[AnsweredQuestion, ...]:
        questions = await question_rows.answers_to_task(
            self.services.db, order.job_id, order.task_id
        )
        return tuple(
            AnsweredQuestion(
                question=question.text,
                answer=question.answer or "",
                by=(question.origin or "").lower(),
            )
            for question in questions
        )

    async def _view(self, order: AgentTaskOrder) -> AgentContext:
        services = self.services
        tasks = await task_queries.load_agent_task(services.db, order.job_id, order.task_id)
        # The steps of a turn that another attempt has decided have not run: an agent would be
        # shown them as failed.
        await receipt_rows.refuse_overtaken(services.db, order, order.receipt_key)
        agent = services.agents.profile(find_agent_task(tasks, order.task_id).task.agent)
        request = await services.requests.of(order)
        tools = tools_of(agent, await services.hub.for_job(request).signatures())
        view = build_agent_context(tasks, order.task_id, agent, tools, await self._answers(order))
        if works_as_loop(view.task, request.strategy):
            # Its transcript has the passages, and describes the collection where it begins.
            today = (await services.requests.day_of(order)).isoformat()
            return replace(view, setting=JobSetting(today=today))
        return replace(
            view,
            setting=await services.setting_of(order),
            quotes=await quotes_of_steps(services.db, order.job_id, order.task_id),
        )

    async def _model_caller(self, order: AgentTaskOrder, request: JobRequest) -> ModelCaller:
        services, model = self.services, ""
        if services.agents.has_own_models:
            stored = await task_queries.load_task(services.db, order.job_id, order.task_id)
            model = services.agents.own_model(stored.task.agent)
        return ModelCaller.of(services, order, request, order.task_id, model=model)


@dataclass(frozen=True)
class _DecidedTurn:
    """An agent's turn that is decided, and to be recorded."""

    order: AgentTaskOrder
    view: AgentContext
    tasks: list[StoredTask]
    decision: TurnDecision
    routed: RoutingResult
    tokens: int
    worked_s: float
    halt: Halt | None


async def _record_turn(turn: _DecidedTurn, tx: JobTransaction) -> Recorded[AgentTaskReceipt]:
    order, decision = turn.order, turn.decision
    notes = await agent_task_rows.begin_agent_attempt(
        tx, order.task_id, order.attempt, turn.worked_s
    )
    if notes is None:
        return Recorded(_stale_attempt_receipt(order, turn.tasks), ReceiptScope.NONE)
    if not turn.view.used_ids and not notes.get("begun"):
        tx.event(EventKind.TASK_STARTED, order.task_id, attempt=order.attempt)
    await agent_task_rows.add_agent_notes(tx, order.task_id, decision.notes | {"begun": True})
    if decision.question:
        # After the answer the agent takes the same turn again; a question is asked once anyway.
        return Recorded(await _store_question(tx, turn), ReceiptScope.NONE)
    if decision.end is not None:
        return Recorded(await _store_result(tx, turn, decision.end))
    return Recorded(await _store_steps(tx, turn))


def _apply_step_limit(turn: AgentTurn) -> AgentTurn:
    """The turn with the limit of steps of the agent's profile."""
    limit = turn.view.agent.max_steps
    if limit is None:
        return turn
    lower = min(limit, turn.strategy.max_agent_steps)
    strategy = turn.strategy.model_copy(update={"max_agent_steps": lower})
    taken = sum(step.task.status.has_run for step in turn.view.steps)
    order = turn.order
    if taken >= limit and not order.must_end:
        why = f"{taken} steps were taken (max_steps of agent {turn.view.agent.name!r})"
        order = order.model_copy(update={"must_end": why})
    return replace(turn, order=order, strategy=strategy)


def _is_loop_of_whole_question(turn: AgentTurn) -> bool:
    task = turn.view.task
    return task.answers_whole_question and works_as_loop(task, turn.strategy)


async def _store_result(
    tx: JobTransaction, turn: _DecidedTurn, end: AgentResult
) -> AgentTaskReceipt:
    order = turn.order
    if turn.decision.loop_result is not None:
        place = LoopAttempt(order.task_id, order.attempt)
        task = turn.view.task
        await store_loop_result(
            tx,
            place,
            task.expects[0].name if task.answers_whole_question else OPENING_FINDINGS.name,
            turn.decision.loop_result,
            own_steps={each.task.id for each in turn.view.steps},
            promises=task.promised_values,
        )
        await agent_task_rows.add_agent_notes(
            tx, order.task_id, {ANSWERED_NOTE: end.is_answered} if end.is_answered else {}
        )
        _log_handover(tx, order.task_id, turn.decision.loop_result)
    await agent_task_rows.finish_agent_task(
        tx,
        turn.view.task,
        order.attempt,
        kept=end.kept,
        failure=end.failure,
        confidence=end.confidence,
        contradicts=end.contradicts,
    )
    result = TaskReceipt(
        task_id=order.task_id,
        attempt=order.attempt,
        status=TaskStatus.FAILED if end.failure else TaskStatus.DONE,
        confidence=end.confidence,
        preview=result_preview(end.kept, end.failure),
        failure_class=end.failure.failure_class if end.failure else None,
        contradicts_plan=bool(end.contradicts),
        is_answered=end.is_answered,
        halt=turn.halt,
        tokens=turn.tokens,
        seconds=turn.worked_s,
    )
    return AgentTaskReceipt(result=result)


def _log_handover(tx: JobTransaction, task_id: str, result: LoopResult) -> None:
    if result.handover is not None:
        facts: dict[str, JsonValue] = {
            "cause": result.handover.cause.value,
            "why": handover_in_words(result, result.handover),
            "proven": len(result.sentences),
            "open": len(open_links(result)),
        }
        tx.event(EventKind.LOOP_HANDED_OVER, task_id, **facts)


async def _store_question(tx: JobTransaction, turn: _DecidedTurn) -> AgentTaskReceipt:
    """Make the agent task wait for a person, or for the tasks that are to answer."""
    routed = turn.routed
    await agent_task_rows.add_dependencies(tx, turn.order.task_id, routed.waits_for)
    return AgentTaskReceipt(
        result=_running_receipt(turn),
        added=routed.added,
        questions=() if routed.question is None else (routed.question,),
        waits_for=routed.waits_for,
    )


async def _store_steps(tx: JobTransaction, turn: _DecidedTurn) -> AgentTaskReceipt:
    order, decision = turn.order, turn.decision
    change = PlanChange(
        cause=decision.cause,
        scope=order.task_id,
        added=decision.steps,
        superseded=decision.superseded,
        explanation=decision.explanation,
    )
    attempt = order.attempt if turn.view.stored.notes.get(CALL_AGAIN_NOTE) else 1
    await plan_change_rows.store_change(tx, plan_of(turn.tasks), change, attempt=attempt)
    return AgentTaskReceipt(
        result=_running_receipt(turn),
        added=fit_tasks_to_page(added_states(change, attempt=attempt)),
        superseded=change.superseded,
    )


def _running_receipt(turn: _DecidedTurn) -> TaskReceipt:
    return TaskReceipt(
        task_id=turn.order.task_id,
        attempt=turn.order.attempt,
        status=TaskStatus.RUNNING,
        tokens=turn.tokens,
        seconds=turn.worked_s,
    )


def _stale_attempt_receipt(order: AgentTaskOrder, tasks: list[StoredTask]) -> AgentTaskReceipt:
    """The receipt of an attempt that the plan has superseded, or replaced by another attempt."""
    status = find_agent_task(tasks, order.task_id).task.status
    return AgentTaskReceipt(
        result=TaskReceipt(task_id=order.task_id, attempt=order.attempt, status=status)
    )
