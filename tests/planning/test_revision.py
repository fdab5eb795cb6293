"""Revisions of the plan: only what has not begun changes, and the graph stays one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.plan import Plan, Task, TaskStatus
from planning.graph import cycle, edges
from planning.revision import Proposal, revised, revision_faults
from planning.validation import Ground
from tests.support.plans import node, plan

AGENTS = frozenset({"generalist"})
OPEN_ENDED = Ground(tools={}, needs_final=False, agents=AGENTS)
CONCLUDING = Ground(tools={}, agents=AGENTS)
STATUSES = (TaskStatus.PENDING, TaskStatus.RUNNING, TaskStatus.DONE, TaskStatus.FAILED)


def other(task: Task, **changes: object) -> Task:
    return task.model_copy(update=changes)


@pytest.mark.conformance("TDP-06")
@pytest.mark.parametrize(
    ("proposal", "fault"),
    [
        (Proposal(removed=("T9",)), "task 'T9': the plan has no such task"),
        (Proposal(removed=("T1",)), "task 'T1': it is done, and only what is pending may change"),
        (Proposal(refined=(node("T2", about=" "),)), "task 'T2': the refined description is empty"),
        (
            Proposal(refined=(node("T2", "T3"),)),
            "task 'T2': its dependencies form a cycle: T2 -> T3 -> T2",
        ),
        (
            Proposal(refined=(node("T2", "T8"),)),
            "task 'T2': depends on 'T8', which does not exist or is removed",
        ),
        (Proposal(removed=("T3",)), "no task that is left yields the final answer"),
        (
            Proposal(added=(node("T1", about="Again?"),)),
            "task 'T1': the id belongs to an earlier task; take an unused one",
        ),
        (
            Proposal(added=(node("T4", about="Who?", agent="nobody"),)),
            "task 'T4': unknown agent 'nobody'; agents: generalist",
        ),
    ],
)
def test_what_would_break_the_graph_is_named_with_its_task(proposal: Proposal, fault: str) -> None:
    known = plan(
        node("T1", status=TaskStatus.DONE),
        node("T2", "T1"),
        node("T3", "T2", yields="final_answer"),
    )

    assert fault in revision_faults(known, proposal, CONCLUDING)


@pytest.mark.conformance("TDP-06")
def test_who_depended_on_a_removed_task_depends_on_what_that_one_did() -> None:
    known = plan(
        node("T1", status=TaskStatus.DONE), node("T2", "T1"), node("T3", "T2"), node("T4", "T3")
    )
    proposal = Proposal(removed=("T2", "T3"))

    assert revision_faults(known, proposal, OPEN_ENDED) == []
    after = revised(known, proposal)

    assert after.plan.by_id["T4"].depends_on == ("T1",)
    assert (after.removed, after.refined) == (("T2", "T3"), ("T4",))
    (change,) = after.fields
    assert (change.task, change.old, change.new) == ("T4", ["T3"], ["T1"])


@st.composite
def plans_and_proposals(draw: st.DrawFn) -> tuple[Plan, Proposal]:
    """Any acyclic plan in any state of work, and anything somebody could propose."""
    size = draw(st.integers(1, 7))
    tasks = []
    for n in range(size):
        earlier = [f"T{m}" for m in range(n)]
        needs = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=3)) if earlier else []
        tasks.append(node(f"T{n}", *needs, status=draw(st.sampled_from(STATUSES))))
    names = [f"T{n}" for n in range(size + 2)]
    refined = [
        node(name, *draw(st.lists(st.sampled_from(names), unique=True, max_size=3)), about="Else?")
        for name in draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    ]
    added = [
        node(
            f"N{n}", *draw(st.lists(st.sampled_from([*names, "N0", "N1"]), unique=True, max_size=3))
        )
        for n in range(draw(st.integers(0, 2)))
    ]
    removed = draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    return plan(*tasks), Proposal(
        refined=tuple(refined), added=tuple(added), removed=tuple(removed)
    )


@pytest.mark.conformance("TDP-06")
@given(plans_and_proposals())
def test_a_revision_without_faults_keeps_the_graph_whole_and_the_finished_as_it_was(
    case: tuple[Plan, Proposal],
) -> None:
    known, proposal = case
    faults = revision_faults(known, proposal, OPEN_ENDED)
    after = revised(known, proposal).plan

    for task in known.tasks:
        if task.status is not TaskStatus.PENDING:
            assert after.by_id[task.id] == task, "what had begun was changed"
    if not faults:
        live = {task.id for task in after.live}
        assert all(need in live for task in after.live for need in task.depends_on)
        assert not cycle(edges(Plan(tasks=after.live)))
