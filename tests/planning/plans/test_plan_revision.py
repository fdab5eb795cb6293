"""Tests for revisions of a plan: only tasks that have not begun change, and the graph stays valid."""

from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.plans.research_plan import Plan, Task, TaskStatus
from holdfast.planning.plans.plan_graph import find_cycle, known_dependencies
from holdfast.planning.plans.plan_revision import RevisionProposal, revision_change, revision_faults
from holdfast.planning.plans.plan_validation import PlanRules
from tests.support.jobs.plan_builders import agent_task, plan, result_reference

PartT = TypeVar("PartT", Task, RevisionProposal)
AGENTS = frozenset({"generalist"})
OPEN_ENDED = PlanRules(tools={}, needs_final=False, agents=AGENTS)
CONCLUDING = PlanRules(tools={}, agents=AGENTS)
STATUSES = (TaskStatus.PENDING, TaskStatus.RUNNING, TaskStatus.DONE, TaskStatus.FAILED)


def other(part: PartT, **changes: object) -> PartT:
    return part.model_copy(update=changes)


@pytest.mark.conformance("TDP-06")
@pytest.mark.parametrize(
    ("proposal", "fault"),
    [
        (RevisionProposal(removed=("T9",)), "task 'T9': the plan has no such task"),
        (
            RevisionProposal(removed=("T1",)),
            "task 'T1': it is done, and only what is pending may change",
        ),
        (
            RevisionProposal(refined=(agent_task("T2", about=" "),)),
            "task 'T2': the refined description is empty",
        ),
        (
            RevisionProposal(refined=(agent_task("T2", "T3"),)),
            "task 'T2': its dependencies form a cycle: T2 -> T3 -> T2",
        ),
        (
            RevisionProposal(refined=(agent_task("T2", "T8"),)),
            "task 'T2': depends on 'T8', which does not exist or is removed",
        ),
        (
            RevisionProposal(refined=(agent_task("T2", queries=[result_reference("T1")]),)),
            "task 'T2': parameter 'first_queries': refers to 'T1.value', but 'T1' is not a dependency",
        ),
        (RevisionProposal(removed=("T3",)), "no task that is left yields the final answer"),
        (
            RevisionProposal(added=(agent_task("T1", about="Again?"),)),
            "task 'T1': the id belongs to an earlier task; take an unused one",
        ),
        (
            RevisionProposal(added=(agent_task("T4", about="Who?", agent="nobody"),)),
            "task 'T4': unknown agent 'nobody'; agents: generalist",
        ),
    ],
)
def test_what_would_break_the_graph_is_named_with_its_task(
    proposal: RevisionProposal, fault: str
) -> None:
    known = plan(
        agent_task("T1", status=TaskStatus.DONE),
        agent_task("T2", "T1"),
        agent_task("T3", "T2", yields="final_answer"),
    )

    assert fault in revision_faults(known, proposal, CONCLUDING)


@pytest.mark.conformance("TDP-09")
def test_what_failed_may_be_removed_and_nothing_may_need_it() -> None:
    known = plan(
        agent_task("T1", status=TaskStatus.FAILED),
        agent_task("T2", "T1"),
        agent_task("T3", "T2", yields="final_answer"),
    )
    again = agent_task("T1a", about="In other words?")
    moved = other(known.by_id["T2"], depends_on=("T1a",))
    repair = RevisionProposal(refined=(moved,), added=(again,), removed=("T1",), failed=("T1",))
    unmoved = other(repair, refined=())
    needing = "task 'T2': depends on 'T1', which failed"

    assert revision_faults(known, repair, CONCLUDING) == []
    assert revision_change(known, repair).superseded == ("T1",)
    assert repair.left_out == ()
    for lacking in (unmoved, RevisionProposal(failed=("T1",))):
        assert revision_faults(known, lacking, CONCLUDING)[0].startswith(needing)
    ended = plan(agent_task("T1", yields="final_answer", status=TaskStatus.FAILED))
    assert revision_faults(ended, RevisionProposal(failed=("T1",)), CONCLUDING) == [
        "no task that is left yields the final answer"
    ]


@pytest.mark.conformance("TDP-09")
def test_nothing_that_a_revision_writes_may_need_what_was_given_up_before() -> None:
    known = plan(
        agent_task("T1", status=TaskStatus.FAILED),
        agent_task("T2", status=TaskStatus.DONE),
        agent_task("T3", "T2", yields="final_answer"),
        agent_task("T4", "T1"),
    )
    adding = RevisionProposal(added=(agent_task("T5", "T1"),), gone=("T1",))
    moved = agent_task("T3", "T1", yields="final_answer")
    refining = RevisionProposal(refined=(moved,), gone=("T1",))

    for proposal, name in ((adding, "T5"), (refining, "T3")):
        (fault,) = revision_faults(known, proposal, CONCLUDING)
        assert fault.startswith(f"task {name!r}: depends on 'T1', which failed")
    assert revision_faults(known, RevisionProposal(gone=("T1",)), CONCLUDING) == []
    ended = plan(agent_task("T1", yields="final_answer", status=TaskStatus.FAILED))
    assert revision_faults(ended, RevisionProposal(gone=("T1",)), CONCLUDING) == [
        "no task that is left yields the final answer"
    ]


@pytest.mark.conformance("TDP-09")
@pytest.mark.parametrize("status", [TaskStatus.RUNNING, TaskStatus.DONE])
def test_what_failed_may_be_removed_although_a_task_that_has_begun_names_it(
    status: TaskStatus,
) -> None:
    known = plan(
        agent_task("Q1", status=TaskStatus.FAILED),
        agent_task("Q2"),
        agent_task("T2", "Q1", "Q2", status=status),
        agent_task("T3", "T2", yields="final_answer"),
    )
    removal = RevisionProposal(removed=("Q1",), failed=("Q1",))
    later = revision_change(known, removal).apply_to(known)
    of_waited_for = RevisionProposal(removed=("Q2",))

    assert revision_faults(known, removal, CONCLUDING) == []
    assert revision_faults(later, RevisionProposal(), CONCLUDING) == []
    assert revision_faults(known, of_waited_for, CONCLUDING) == [
        "task 'T2': depends on 'Q2', which does not exist or is removed"
    ]


@pytest.mark.conformance("TDP-06")
def test_who_depended_on_a_removed_task_depends_on_what_that_one_did() -> None:
    known = plan(
        agent_task("T1", status=TaskStatus.DONE),
        agent_task("T2", "T1"),
        agent_task("T3", "T2"),
        agent_task("T4", "T3"),
    )
    proposal = RevisionProposal(removed=("T2", "T3"))

    assert revision_faults(known, proposal, OPEN_ENDED) == []
    change = revision_change(known, proposal)

    assert change.apply_to(known).by_id["T4"].depends_on == ("T1",)
    assert (change.superseded, change.changed_ids) == (("T2", "T3"), ("T4",))
    (field,) = change.changed
    assert (field.task, field.old, field.new) == ("T4", ["T3"], ["T1"])


@pytest.mark.conformance("TDP-09")
@pytest.mark.parametrize("needs", [("T1a",), ()])
def test_first_searches_by_what_is_no_dependency_any_more_go_and_the_others_stay(
    needs: tuple[str, ...],
) -> None:
    known = plan(
        agent_task("T0", status=TaskStatus.DONE),
        agent_task("T1", status=TaskStatus.FAILED),
        agent_task("T2", "T1", queries=[f"lord of {result_reference('T1')}", "lord"]),
        agent_task("T3", "T1", queries=[result_reference("T1")]),
        agent_task("T4", "T0", queries=[result_reference("T0")]),
    )
    moved = (known.by_id[name].with_dependencies(needs) for name in ("T2", "T3"))
    said = known.by_id["T4"].with_description("Of the land found?", "")
    proposal = RevisionProposal(
        refined=(*moved, said), added=(agent_task("T1a"),), removed=("T1",), failed=("T1",)
    )

    assert revision_faults(known, proposal, OPEN_ENDED) == []
    after = revision_change(known, proposal).apply_to(known).by_id

    assert [each.value for each in after["T2"].first_queries] == [["lord"]]
    assert not after["T2"].first_queries[0].is_reference
    assert after["T3"].first_queries == ()
    assert after["T4"].inputs == known.by_id["T4"].inputs
    assert after["T4"].description == "Of the land found?"


@st.composite
def plans_and_proposals(draw: st.DrawFn) -> tuple[Plan, RevisionProposal]:
    """Any acyclic plan in any state of work, and anything somebody could propose."""
    size = draw(st.integers(1, 7))
    tasks = []
    for n in range(size):
        earlier = [f"T{m}" for m in range(n)]
        needs = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=3)) if earlier else []
        tasks.append(agent_task(f"T{n}", *needs, status=draw(st.sampled_from(STATUSES))))
    names = [f"T{n}" for n in range(size + 2)]
    refined = [
        agent_task(
            name, *draw(st.lists(st.sampled_from(names), unique=True, max_size=3)), about="Else?"
        )
        for name in draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    ]
    added = [
        agent_task(
            f"N{n}", *draw(st.lists(st.sampled_from([*names, "N0", "N1"]), unique=True, max_size=3))
        )
        for n in range(draw(st.integers(0, 2)))
    ]
    removed = draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    return plan(*tasks), RevisionProposal(
        refined=tuple(refined), added=tuple(added), removed=tuple(removed)
    )


@pytest.mark.conformance("TDP-06")
@given(plans_and_proposals())
@pytest.mark.slow
def test_a_revision_without_faults_keeps_the_graph_whole_and_the_finished_as_it_was(
    case: tuple[Plan, RevisionProposal],
) -> None:
    known, proposal = case
    faults = revision_faults(known, proposal, OPEN_ENDED)
    after = revision_change(known, proposal).apply_to(known)

    for task in known.tasks:
        if task.status is not TaskStatus.PENDING:
            assert after.by_id[task.id] == task, "what had begun was changed"
    if not faults:
        live = {task.id for task in after.live}
        assert all(need in live for task in after.live for need in task.depends_on)
        assert not find_cycle(known_dependencies(Plan(tasks=after.live)))
