"""Tests for the next actions of a job: laws for every plan, planner and order of events (VMAO-02)."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.jobs.job_state import (
    Action,
    AgentTaskReceipt,
    EndJob,
    Halt,
    JobState,
    MakePlan,
    PlanReceipt,
    Replan,
    ReportReceipt,
    Revise,
    StartTask,
    TaskReceipt,
    TaskState,
    WriteReport,
)
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.questions.user_questions import OpenQuestion, QuestionKind
from holdfast.models.strategies.job_strategy import (
    Grain,
    Monitoring,
    OnExhausted,
    ReplanScope,
    Strategy,
)
from holdfast.planning.scheduler import state_transitions as changes
from holdfast.planning.scheduler.next_actions import decide
from holdfast.planning.strategies.strategy_presets import preset


def task(
    task_id: str, *after: str, priority: int = 5, final: bool = False, root: str = ""
) -> TaskState:
    return TaskState(
        id=task_id,
        kind=TaskKind.REASONING if final else TaskKind.TOOL,
        label=task_id,
        depends_on=after,
        priority=priority,
        root=root or task_id,
        is_final=final,
    )


def planned(*tasks: TaskState, **strategy: object) -> JobState:
    state = JobState(strategy=Strategy(**strategy), has_plan=True)
    return changes.with_tasks(state, tasks)


def done(state: JobState, *names: str) -> JobState:
    for name in names:
        state = came_back(
            changes.start_action(state, StartTask(task_id=name)), name, TaskStatus.DONE
        )
    return state


def came_back(state: JobState, name: str, status: TaskStatus) -> JobState:
    return changes.apply_task_receipt(
        state, TaskReceipt(task_id=name, attempt=1, status=status, preview="x")
    )


def starts(actions: Sequence[Action]) -> list[str]:
    return [action.task_id for action in actions if isinstance(action, StartTask)]


def test_a_new_job_is_planned_first() -> None:
    assert decide(JobState(strategy=Strategy())) == (MakePlan(),)


@pytest.mark.conformance("VMAO-02")
def test_ready_tasks_start_by_priority_and_three_at_once() -> None:
    state = planned(
        task("A", priority=1),
        task("B", priority=9),
        task("C"),
        task("D", priority=9),
        task("E", "B"),
    )

    assert starts(decide(state)) == ["B", "D", "C"]


@pytest.mark.conformance("VMAO-02")
def test_a_freed_slot_is_refilled_at_once() -> None:
    state = planned(task("A"), task("B"), task("C"), task("D"), slots=2)
    for action in decide(state):
        state = changes.start_action(state, action)

    assert decide(state) == ()
    assert starts(decide(came_back(state, "A", TaskStatus.DONE))) == ["C"]


def test_independent_tasks_go_on_while_a_failed_one_is_replanned() -> None:
    state = planned(task("A"), task("B", "A"), task("C"), task("D", "C"), slots=2)
    state = came_back(changes.start_action(state, StartTask(task_id="A")), "A", TaskStatus.FAILED)

    assert decide(state) == (Replan(task_id="A"), StartTask(task_id="C"))


def test_replans_come_one_at_a_time() -> None:
    state = planned(task("A"), task("B"))
    for name in ("A", "B"):
        state = came_back(
            changes.start_action(state, StartTask(task_id=name)), name, TaskStatus.FAILED
        )

    state = changes.start_action(state, decide(state)[0])

    assert decide(state) == ()


def reported_ending(state: JobState) -> EndJob:
    """How the job ends after the report that it writes now."""
    assert decide(state) == (WriteReport(),)
    state = changes.start_action(state, WriteReport())
    (ending,) = decide(changes.apply_report_receipt(state, ReportReceipt(lacks_answer=True)))
    assert isinstance(ending, EndJob)
    return ending


@pytest.mark.conformance("KPI-13")
def test_the_fourth_failure_of_a_lineage_fails_the_job_with_the_whole_lineage() -> None:
    state = planned(task("T2"), task("T9", "T2", final=True))
    for name, successor in (("T2", "T2a"), ("T2a", "T2b"), ("T2b", "T2c")):
        state = came_back(
            changes.start_action(state, StartTask(task_id=name)), name, TaskStatus.FAILED
        )
        assert decide(state) == (Replan(task_id=name),)
        state = changes.start_action(state, Replan(task_id=name))
        added = (task(successor, root="T2"),)
        receipt = PlanReceipt(change_number=2, added=added, superseded=(name,))
        state = changes.apply_plan_receipt(state, Replan(task_id=name), receipt)
    state = came_back(
        changes.start_action(state, StartTask(task_id="T2c")), "T2c", TaskStatus.FAILED
    )

    ending = reported_ending(state)

    assert (ending.status, ending.reason) == (JobStatus.FAILED, StopReason.REPLANS_EXHAUSTED)
    assert all(name in ending.message for name in ("T2:", "T2a:", "T2b:", "T2c:"))


@pytest.mark.conformance("KPI-13")
def test_by_setting_the_job_goes_on_without_the_failed_task() -> None:
    state = planned(
        task("A"),
        task("B"),
        task("Z", "A", "B", final=True),
        max_replans_per_task=0,
        on_exhausted=OnExhausted.CONTINUE,
    )
    state = came_back(changes.start_action(state, StartTask(task_id="A")), "A", TaskStatus.FAILED)

    assert starts(decide(state)) == ["B"]
    state = done(state, "B")
    assert decide(state) == (WriteReport(),)
    state = changes.apply_report_receipt(
        changes.start_action(state, WriteReport()), ReportReceipt()
    )
    (ending,) = decide(state)
    assert isinstance(ending, EndJob)
    assert (ending.status, ending.reason) == (JobStatus.DONE, StopReason.ANSWERED_WITH_GAPS)


@pytest.mark.conformance("HZN-04")
@pytest.mark.parametrize(("limit", "reason"), [(2, StopReason.TOOL_CALL_LIMIT), (3, None)])
def test_the_limit_of_tool_calls_is_a_stop_with_that_reason(
    limit: int, reason: StopReason | None
) -> None:
    state = planned(
        task("A"), task("B", "A"), task("C", "B"), task("Z", "C", final=True), max_tool_calls=limit
    )
    state = done(state, "A", "B")

    actions = decide(state)

    if reason is None:
        assert starts(actions) == ["C"]
    else:
        assert actions == (WriteReport(),), "what was found is reported first"
        state = changes.apply_report_receipt(
            changes.start_action(state, WriteReport()), ReportReceipt()
        )
        (ending,) = decide(state)
        assert isinstance(ending, EndJob)
        assert (ending.status, ending.reason) == (JobStatus.FAILED, reason)


@pytest.mark.conformance("HZN-04")
def test_the_limit_of_replans_of_a_job_is_a_stop_with_that_reason() -> None:
    state = planned(task("A"), max_replans=1, max_replans_per_task=5)
    state = came_back(changes.start_action(state, StartTask(task_id="A")), "A", TaskStatus.FAILED)
    state = changes.start_action(state, Replan(task_id="A"))
    added = (task("Aa", root="A"),)
    receipt = PlanReceipt(change_number=2, added=added, superseded=("A",))
    state = changes.apply_plan_receipt(state, Replan(task_id="A"), receipt)
    state = came_back(changes.start_action(state, StartTask(task_id="Aa")), "Aa", TaskStatus.FAILED)

    ending = reported_ending(state)

    assert ending.reason is StopReason.RETRY_LIMIT


def test_a_task_that_nothing_replaces_is_given_up_and_not_replanned_again() -> None:
    state = planned(task("A"), task("B"), on_exhausted=OnExhausted.CONTINUE)
    state = came_back(changes.start_action(state, StartTask(task_id="A")), "A", TaskStatus.FAILED)
    state = changes.start_action(state, Replan(task_id="A"))

    state = changes.apply_plan_receipt(state, Replan(task_id="A"), PlanReceipt(change_number=2))

    assert state.tasks["A"].is_given_up
    assert state.total_replans == 1
    assert decide(state) == (StartTask(task_id="B"),)


def test_a_halt_lets_what_runs_finish_and_then_ends_the_job() -> None:
    state = planned(task("A"), task("B"))
    state = changes.start_action(state, StartTask(task_id="A"))
    state = changes.halt_action(
        state, MakePlan(), Halt(reason=StopReason.MODEL_REFUSED, message="no key")
    )

    assert decide(state) == ()
    (ending,) = decide(came_back(state, "A", TaskStatus.DONE))
    assert isinstance(ending, EndJob)
    assert (ending.reason, ending.message) == (StopReason.MODEL_REFUSED, "no key")


@st.composite
def worlds(draw: st.DrawFn) -> tuple[JobState, st.DataObject]:
    size = draw(st.integers(1, 8))
    tasks = []
    for n in range(size):
        earlier = [f"T{m}" for m in range(n)]
        needs = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=3)) if earlier else []
        tasks.append(task(f"T{n}", *needs, priority=draw(st.integers(1, 10)), final=n == size - 1))
    strategy = Strategy(
        slots=draw(st.integers(1, 4)),
        max_replans_per_task=draw(st.integers(0, 3)),
        max_replans=draw(st.integers(0, 6)),
        max_tool_calls=draw(st.integers(1, 12)),
        on_exhausted=draw(st.sampled_from(OnExhausted)),
        replan_scope=draw(st.sampled_from(ReplanScope)),
    )
    state = JobState(strategy=strategy)
    return changes.apply_plan_receipt(
        state, MakePlan(), PlanReceipt(change_number=1, added=tuple(tasks))
    ), draw(st.data())


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(worlds())
@pytest.mark.slow
def test_every_job_ends_and_no_law_is_broken(world: tuple[JobState, st.DataObject]) -> None:
    """Whatever fails, in whatever order things come back: the run ends, in order, within limits."""
    state, data = world
    under_way: list[Action] = []
    finished: dict[str, TaskStatus] = {}
    for _ in range(500):
        actions = decide(state)
        for action in actions:
            if isinstance(action, EndJob):
                assert not under_way
                return
            _check_start(state, action)
            state = changes.start_action(state, action)
            under_way.append(action)
        assert under_way, "nothing runs, nothing starts, and the job has not ended"
        assert state.count(TaskStatus.RUNNING) <= state.strategy.slots
        index = data.draw(st.integers(0, len(under_way) - 1))
        state = _came_back(state, under_way.pop(index), data)
        for name, status in finished.items():
            assert state.tasks[name].status is status, "finished work was rewritten"
        finished = {n: t.status for n, t in state.tasks.items() if t.status is TaskStatus.DONE}
    raise AssertionError("the job did not end")


def _check_start(state: JobState, action: Action) -> None:
    if isinstance(action, StartTask):
        needs = state.tasks[action.task_id].depends_on
        assert all(state.tasks[need].status is TaskStatus.DONE for need in needs)
        assert state.tool_calls <= state.strategy.max_tool_calls
    if isinstance(action, Replan):
        root = state.tasks[action.task_id].root
        assert state.replans.get(root, 0) < state.strategy.max_replans_per_task
        assert state.total_replans < state.strategy.max_replans


def _came_back(state: JobState, action: Action, data: st.DataObject) -> JobState:
    match action:
        case StartTask(task_id=name):
            status = TaskStatus.DONE if data.draw(st.booleans()) else TaskStatus.FAILED
            return came_back(state, name, status)
        case Replan(task_id=name):
            return changes.apply_plan_receipt(
                state, Replan(task_id=name), _continuation(state, name, data)
            )
        case WriteReport():
            return changes.apply_report_receipt(state, ReportReceipt())
    raise AssertionError(action)


def _continuation(state: JobState, failed: str, data: st.DataObject) -> PlanReceipt:
    if data.draw(st.integers(0, 9)) == 0:
        return PlanReceipt(halt=Halt(reason=StopReason.PLANNING_FAILED, message="no plan"))
    gone = {failed}
    for name, each in state.tasks.items():
        if gone & set(each.depends_on) and each.status is TaskStatus.PENDING:
            gone.add(name)
    root = state.tasks[failed].root
    new = f"{failed}x"
    added = [task(new, root=root)]
    if any(state.tasks[name].is_final for name in gone):
        added.append(task(f"{new}z", new, final=True, root=root))
    return PlanReceipt(change_number=2, added=tuple(added), superseded=tuple(sorted(gone)))


@pytest.mark.conformance("HZN-04")
def test_the_eight_replans_of_full_horizon_end_with_the_limits_own_reason() -> None:
    state = JobState(strategy=preset("full-horizon").strategy, has_plan=True)
    name = "T1"
    state = changes.with_tasks(state, [task(name)])
    for n in range(8):
        state = came_back(
            changes.start_action(state, StartTask(task_id=name)), name, TaskStatus.FAILED
        )
        assert decide(state) == (Replan(task_id=name),)
        state = changes.start_action(state, Replan(task_id=name))
        added = (task(f"T1{n}", root="T1"),)
        receipt = PlanReceipt(change_number=2, added=added, superseded=(name,))
        state = changes.apply_plan_receipt(state, Replan(task_id=name), receipt)
        name = f"T1{n}"
    state = came_back(changes.start_action(state, StartTask(task_id=name)), name, TaskStatus.FAILED)

    ending = reported_ending(state)

    assert ending.reason is StopReason.RETRY_LIMIT
    assert ending.message.startswith("8 replans of the job are used up")


def test_what_a_replaced_task_had_asked_holds_nothing_up() -> None:
    asked = OpenQuestion(id=1, kind=QuestionKind.ESCALATION, task_id="T1")
    state = replace(planned(task("T1"), task("T2", final=True)), questions=(asked,))
    failed = came_back(
        changes.start_action(state, StartTask(task_id="T1")), "T1", TaskStatus.FAILED
    )
    again = changes.start_action(failed, Replan(task_id="T1"))

    receipt = PlanReceipt(change_number=2, added=(task("T1a", root="T1"),), superseded=("T1",))

    assert changes.apply_plan_receipt(again, Replan(task_id="T1"), receipt).questions == ()
    assert again.questions == (asked,)


def agent(task_id: str, *after: str, status: TaskStatus = TaskStatus.PENDING) -> TaskState:
    return TaskState(
        id=task_id,
        kind=TaskKind.AGENT,
        label=task_id,
        depends_on=after,
        root=task_id,
        status=status,
    )


@pytest.mark.conformance("TDP-06")
def test_the_plan_itself_is_changed_by_one_at_a_time() -> None:
    strategy = Strategy(grain=Grain.AGENTS, monitoring=Monitoring.EAGER)
    state = JobState(strategy=strategy, has_plan=True)
    failed = agent("A", status=TaskStatus.FAILED)
    state = changes.with_tasks(state, (failed, agent("B", "A"), agent("C", "B")))

    first = [type(action) for action in decide(state)]
    replanning = changes.start_action(state, Replan(task_id="A"))
    revising = changes.start_action(state, Revise(results_considered=1))

    assert first == [Replan]
    assert decide(replanning) == ()
    assert decide(revising) == ()


@pytest.mark.conformance("TDP-06")
@pytest.mark.parametrize(
    ("name", "contradicts", "revises"),
    [("tdp", False, True), ("vmao", False, False), ("vmao", True, True)],
)
def test_a_result_calls_for_a_revision_if_the_job_looks_eagerly_or_the_result_contradicts_the_plan(
    name: str, contradicts: bool, revises: bool
) -> None:
    found = agent("A", status=TaskStatus.DONE).model_copy(update={"contradicts_plan": contradicts})
    state = JobState(strategy=preset(name).strategy, has_plan=True)

    actions = decide(changes.with_tasks(state, (found, agent("B", "A"))))

    assert any(isinstance(each, Revise) for each in actions) is revises


@pytest.mark.conformance("TDP-09")
def test_one_revision_follows_each_batch_and_sees_its_failures() -> None:
    """T1 and T2 begin together; T3 is ready when T1 is done, and waits for the revision."""
    strategy = preset("tdp").strategy
    first = (agent("T1", status=TaskStatus.RUNNING), agent("T2", status=TaskStatus.RUNNING))
    state = JobState(strategy=strategy, has_plan=True)
    state = changes.with_tasks(state, (*first, agent("T3", "T1"), agent("T4", "T2", "T3")))
    ends = (
        TaskReceipt(task_id="T1", attempt=1, status=TaskStatus.DONE),
        TaskReceipt(task_id="T2", attempt=1, status=TaskStatus.FAILED, preview="nobody knows"),
    )

    half = changes.apply_task_receipt(state, ends[0])
    whole = changes.apply_task_receipt(half, ends[1])
    (revision,) = decide(whole)

    assert not any(isinstance(each, StartTask | Revise) for each in decide(half))
    of_batch = decide(changes.with_tasks(half, (agent("T5"),)))
    assert StartTask(task_id="T5") in of_batch, "it was ready with T1 and had no slot"
    assert StartTask(task_id="T3") not in of_batch
    assert revision == Revise(results_considered=2)
    under_way = changes.start_action(whole, revision)
    assert decide(under_way) == ()
    repaired = PlanReceipt(
        change_number=2, added=(agent("T2a"),), superseded=("T2",), considered=("T1", "T2")
    )
    after = changes.apply_plan_receipt(under_way, revision, repaired)
    assert decide(after) == (StartTask(task_id="T3"), StartTask(task_id="T2a"))
    seen = PlanReceipt(considered=("T1", "T2"))
    refused = changes.apply_plan_receipt(under_way, revision, seen)
    assert decide(refused) == (Replan(task_id="T2"), StartTask(task_id="T3"))
    moved = (agent("T4", "T3"),)
    left = seen.model_copy(update={"given_up": ("T2",), "changed": moved})
    left_out = changes.apply_plan_receipt(under_way, revision, left)
    assert decide(left_out) == (StartTask(task_id="T3"),)


@pytest.mark.conformance("TDP-09")
def test_a_result_of_a_task_that_ran_again_is_seen_by_a_revision_of_its_own() -> None:
    state = replace(
        JobState(strategy=preset("tdp").strategy, has_plan=True), revisions=1, results_considered=2
    )
    seen = agent("T1", status=TaskStatus.DONE).considered()
    again = agent("T2", status=TaskStatus.DONE)
    state = changes.with_tasks(state, (seen, again, agent("T3", "T1", "T2")))
    (revision,) = decide(state)

    assert revision == Revise(results_considered=3), "no revision has the key of an earlier one"
    under_way = changes.start_action(state, revision)
    after = changes.apply_plan_receipt(under_way, revision, PlanReceipt(considered=("T2",)))
    assert decide(after) == (StartTask(task_id="T3"),)


@pytest.mark.conformance("TDP-09")
@pytest.mark.parametrize(("needs", "ends"), [(("T1",), True), (("T2",), False)])
def test_a_given_up_task_ends_the_job_only_if_the_plan_still_needs_it(
    needs: tuple[str, ...], ends: bool
) -> None:
    strategy = preset("tdp").strategy.model_copy(update={"max_revisions": 0})
    lost = agent("T1", status=TaskStatus.FAILED).given_up()
    found = agent("T2", status=TaskStatus.DONE).considered()
    last = agent("T3", *needs).model_copy(update={"is_final": True})
    state = changes.with_tasks(JobState(strategy=strategy, has_plan=True), (lost, found, last))

    if ends:
        assert reported_ending(state).reason is StopReason.REPLANS_EXHAUSTED
    else:
        assert decide(state) == (StartTask(task_id="T3"),)


@pytest.mark.conformance("TDP-09")
def test_a_batch_does_not_wait_for_an_agent_that_waits_for_a_person() -> None:
    state = JobState(strategy=preset("tdp").strategy, has_plan=True)
    asking = (agent("T1", status=TaskStatus.DONE), agent("T2", status=TaskStatus.RUNNING))
    question = OpenQuestion(id=1, kind=QuestionKind.QUESTION, task_id="T2")
    state = replace(changes.with_tasks(state, (*asking, agent("T3", "T1"))), questions=(question,))

    assert decide(state) == (Revise(results_considered=1),)


def test_a_task_that_was_added_before_is_not_set_back_by_being_named_again() -> None:
    running = agent("Q1", status=TaskStatus.RUNNING)
    state = planned(agent("A", status=TaskStatus.RUNNING), running)
    receipt = AgentTaskReceipt(
        result=TaskReceipt(task_id="A", attempt=1, status=TaskStatus.RUNNING),
        added=(agent("Q1"),),
        waits_for=("Q1",),
    )

    after = changes.apply_agent_receipt(state, receipt)

    assert after.tasks["Q1"] == running
    assert after.tasks["A"].depends_on == ("Q1",)
