"""Run the activities of a job's actions and fold each receipt into the job's state."""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeAlias

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from holdfast.activities import interfaces
    from holdfast.models.jobs.activity_orders import (
        AgentTaskOrder,
        AttemptOrder,
        FailTaskOrder,
        ReadTasksOrder,
        ReplanOrder,
        ReportOrder,
        ReviseOrder,
        TaskOrder,
        VerificationRoundOrder,
    )
    from holdfast.models.jobs.job_state import (
        Action,
        AdvanceAgentTask,
        AgentTaskReceipt,
        BeginLoop,
        FillGaps,
        MakePlan,
        PlanReceipt,
        Replan,
        Revise,
        StartTask,
        TaskReceipt,
        TaskState,
        Verify,
        WriteReport,
    )
    from holdfast.models.plans.research_plan import TaskKind, TaskStatus
    from holdfast.models.text.message_limits import MessageLimit, cut_message
    from holdfast.models.wire import stored_keys
    from holdfast.planning.scheduler import state_transitions as changes
    from holdfast.planning.scheduler.work_limits import (
        activity_limit,
        concluding_limit,
        step_limit,
    )
    from holdfast.workflows.activity_calls import (
        database_activity_config,
        failure_reason,
        halt_for_error,
        is_over_budget,
        is_pausing_error,
        is_work_over,
        work_activity_config,
        worked_seconds,
    )
    from holdfast.workflows.answer_updates import AnswerUpdates
    from holdfast.workflows.temporal_display import REPLANS_ATTRIBUTE


PlanChangeAction: TypeAlias = BeginLoop | MakePlan | Replan | Revise | FillGaps


class JobActions(AnswerUpdates):
    """The part of a job's workflow that starts actions and applies their receipts."""

    def __init__(self) -> None:
        super().__init__()
        self.attempt = 1
        self.tokens = 0
        # A dict keeps the order: on replay the tasks must be cancelled in the same order.
        self.under_way: dict[asyncio.Task[None], None] = {}

    def start(self, action: Action) -> None:
        """Start an action that `decide` chose; `has_news` is set when the action has ended."""
        self.state = changes.start_action(self.known, action)
        if isinstance(action, StartTask) and self._is_agent(action):
            self.has_news = True  # nothing runs yet: `decide` starts the agent's first turn next
            return
        if isinstance(action, Replan):
            workflow.upsert_search_attributes(
                [REPLANS_ATTRIBUTE.value_set(self.known.total_replans)]
            )
        self._spawn(type(action).__name__, self._run_action(action))

    def _is_agent(self, action: StartTask) -> bool:
        return self.known.tasks[action.task_id].kind is TaskKind.AGENT

    def _run_action(self, action: Action) -> Coroutine[Any, Any, None]:
        match action:
            case StartTask():
                return self._task(action)
            case AdvanceAgentTask():
                return self._advance(action)
            case Verify():
                return self._verify(action)
            case WriteReport():
                return self._report(action)
            case BeginLoop() | MakePlan() | Replan() | Revise() | FillGaps():
                return self._change_plan(action)
        raise AssertionError(action)  # an ending starts no activity

    def _spawn(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name=name)
        self.under_way[task] = None
        task.add_done_callback(self._on_action_done)

    def _on_action_done(self, task: asyncio.Task[None]) -> None:
        self.under_way.pop(task, None)
        self.has_news = True
        if not task.cancelled() and task.exception() is not None:
            self.unexpected_error = task.exception()

    def _order(self) -> AttemptOrder:
        return AttemptOrder(
            job_id=self.job_id,
            epoch=self.epoch,
            attempt=self.attempt,
            limit=activity_limit(self.known.strategy),
        )

    async def _change_plan(self, action: PlanChangeAction) -> None:
        try:
            receipt = await self._plan_change_activity(action)
        except ActivityError as error:
            await self._failed(action, error, "planning")
            return
        self._count_tokens(receipt.tokens)
        # Read every page before applying the receipt: `decide` must not see half a continuation.
        behind = len(self.known.tasks) + len(receipt.added)
        rest = await self.read_remaining_tasks(behind if receipt.is_partial else None)
        self.state = changes.with_tasks(
            changes.apply_plan_receipt(self.known, action, receipt), rest
        )

    def _plan_change_activity(self, action: PlanChangeAction) -> Awaitable[PlanReceipt]:
        """Start the activity that makes the plan change."""
        base = self._order().model_dump()
        running = tuple(
            task.id for task in self.known.tasks.values() if task.status is TaskStatus.RUNNING
        )
        match action:
            case BeginLoop():
                config = database_activity_config(stored_keys.LOOP_ACTIVITY, "begin with a loop")
                return self.run_activity(interfaces.begin_loop, self._order(), config)
            case MakePlan():
                config = work_activity_config(stored_keys.PLAN_ACTIVITY, "plan the research")
                return self.run_activity(interfaces.make_plan, self._order(), config)
            case Replan(task_id=task_id):
                summary = f"replan from {task_id}: {self.known.tasks[task_id].note}"
                config = work_activity_config(stored_keys.replan_activity(task_id), summary[:200])
                replan = ReplanOrder(**base, task_id=task_id, under_way=running)
                return self.run_activity(interfaces.replan, replan, config)
            case Revise(results_considered=results_considered):
                config = work_activity_config(
                    stored_keys.revision_activity(results_considered), "revise what is still to do"
                )
                revise = ReviseOrder(
                    **base, results_considered=results_considered, under_way=running
                )
                return self.run_activity(interfaces.revise_plan, revise, config)
            case FillGaps(round=round_):
                config = work_activity_config(
                    stored_keys.gap_filling_activity(round_), "plan what is missing"
                )
                gaps = VerificationRoundOrder(**base, round=round_)
                return self.run_activity(interfaces.fill_gaps, gaps, config)

    async def _verify(self, action: Verify) -> None:
        order = VerificationRoundOrder(**self._order().model_dump(), round=action.round)
        summary = f"verify the results, round {action.round}"
        config = work_activity_config(stored_keys.verification_activity(action.round), summary)
        try:
            receipt = await self.run_activity(interfaces.verify_results, order, config)
        except ActivityError as error:
            await self._failed(action, error, "verification")
            return
        self._count_tokens(receipt.tokens)
        self.state = changes.apply_round_receipt(self.known, receipt)

    async def _failed(self, action: Action, error: ActivityError, what: str) -> None:
        """Pause the job if a person can remove the cause of the error; otherwise halt the job."""
        if self._is_over_budget_at_the_end(error):
            self.state = changes.undo_action(self.known, action)
        elif is_pausing_error(error):
            self.state = changes.undo_action(self.known, action)
            why = cut_message(f"{what}: {failure_reason(error)}", MessageLimit.ENTRY)
            await self.pause_by_itself(why, (), is_over_budget=is_over_budget(error))
        else:
            self.state = changes.halt_action(self.known, action, halt_for_error(error, what))

    async def _task(self, action: StartTask) -> None:
        task_id = action.task_id
        task = self.known.tasks[task_id]
        order = self._task_order(task)
        activity_id = stored_keys.task_activity(task_id, task.attempt)
        summary = f"{task_id} {task.label}"
        config = work_activity_config(activity_id, summary)
        stub = interfaces.tool_task if task.kind is TaskKind.TOOL else interfaces.reasoning_task
        try:
            receipt = await self.run_activity(stub, order, config)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if is_pausing_error(error) and not self._is_over_budget_at_the_end(error):
                self.state = changes.undo_action(self.known, action)
                why = cut_message(f"{task_id}: {failure_reason(error)}", MessageLimit.ENTRY)
                over = is_over_budget(error)
                await self.pause_by_itself(why, (task_id,), is_over_budget=over)
                return
            receipt = await self._give_up(order, error)
        self._count_tokens(receipt.tokens)
        self.state = changes.apply_task_receipt(self.known, receipt)

    def _is_over_budget_at_the_end(self, error: ActivityError) -> bool:
        """True if the cap stops a call of a job that starts nothing more but its report.

        A person who has chosen the report is not asked about the budget once more.
        """
        return self.known.closing is not None and is_over_budget(error)

    def _task_order(self, task: TaskState) -> TaskOrder:
        strategy, parent = self.known.strategy, self.known.tasks.get(task.parent)
        return TaskOrder(
            job_id=self.job_id,
            epoch=self.epoch,
            task_id=task.id,
            attempt=task.attempt,
            limit=activity_limit(strategy)
            if parent is None
            else step_limit(strategy, parent.seconds),
        )

    async def _advance(self, action: AdvanceAgentTask) -> None:
        """Run one turn of an agent task; the turn counts towards the agent's time.

        A turn that is cut because that time is over is followed by one that concludes.
        """
        task_id = action.task_id
        task = self.known.tasks[task_id]
        turn = len(self.known.steps_of(task_id))
        order = self._turn_order(task, turn, action.must_end)
        activity_id = stored_keys.agent_turn_activity(task_id, task.attempt, turn)
        done = "" if turn == 0 else f" after {turn} step{'s' if turn > 1 else ''}"
        summary = f"{task_id}{done}: {task.label}"
        config = work_activity_config(activity_id, summary)
        try:
            try:
                receipt = await self.run_activity(interfaces.advance_agent, order, config)
            except ActivityError as error:
                if action.must_end or not _is_agent_time_over(error, order):
                    raise
                order = self._turn_order(task, turn, failure_reason(error))
                receipt = await self.run_activity(interfaces.advance_agent, order, config)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if is_pausing_error(error) and not self._is_over_budget_at_the_end(error):
                await self._failed(action, error, task_id)
                return
            receipt = AgentTaskReceipt(result=await self._give_up(self._task_order(task), error))
        self._count_tokens(receipt.result.tokens)
        self.state = changes.apply_agent_receipt(self.known, receipt)

    def _turn_order(self, task: TaskState, turn: int, must_end: str) -> AgentTaskOrder:
        strategy = self.known.strategy
        limit = concluding_limit(strategy) if must_end else step_limit(strategy, task.seconds)
        order = self._task_order(task).model_copy(update={"limit": limit})
        return AgentTaskOrder(**order.model_dump(), turn=turn, must_end=must_end)

    async def _give_up(self, order: TaskOrder, error: ActivityError) -> TaskReceipt:
        """Record the failure of a task whose activity Temporal does not retry any more."""
        failing = FailTaskOrder(
            **order.model_dump(exclude={"limit"}),
            message=failure_reason(error),
            worked_s=worked_seconds(error),
        )
        config = database_activity_config(
            stored_keys.failure_activity(order.task_id), f"record that {order.task_id} failed"
        )
        return await self.run_activity(interfaces.fail_task, failing, config)

    async def _report(self, action: WriteReport) -> None:
        withdraws_questions = bool(self.known.questions)
        order = ReportOrder(**self._order().model_dump(), withdraws_questions=withdraws_questions)
        config = work_activity_config(stored_keys.REPORT_ACTIVITY, "write the report")
        try:
            receipt = await self.run_activity(interfaces.write_report, order, config)
        except ActivityError as error:
            await self._failed(action, error, "the report")
            return
        self._count_tokens(receipt.tokens)
        self.state = changes.apply_report_receipt(self.known, receipt)
        if receipt.first_lines:
            workflow.upsert_memo({"report": receipt.first_lines})

    def _count_tokens(self, tokens: int) -> None:
        self.tokens += tokens

    async def stop_work(self) -> None:
        """Cancel all running actions; cancelling the workflow does not cancel its asyncio tasks."""
        tasks = list(self.under_way)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def read_remaining_tasks(self, after: int | None) -> list[TaskState]:
        """Read the remaining pages of a plan that does not fit into one payload."""
        tasks: list[TaskState] = []
        while after is not None:
            order = ReadTasksOrder(job_id=self.job_id, epoch=self.epoch, after=after)
            config = database_activity_config(stored_keys.page_activity(after), "read the plan on")
            page = await self.run_activity(interfaces.read_tasks, order, config)
            tasks += page.tasks
            after = page.next_after
        return tasks


def _is_agent_time_over(error: ActivityError, order: AgentTaskOrder) -> bool:
    """True if the agent's own time ended the turn, not the patience for a task."""
    limit = order.limit
    if limit is None or limit.setting != "agent_timeout" or not is_work_over(error):
        return False
    return failure_reason(error) == limit.message
