"""Laws of the drawing of plans: it keeps still, leads from left to right, and bears any size."""

import time
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Task, TaskKind, TaskStatus
from holdfast.models.plans.stored_plan_change import StoredPlanChange
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.web.watch.plan_drawing import draw_plan
from holdfast.web.watch.plan_layout import MOST_DRAWN, columns_of, plan_layout


@st.composite
def plans(draw: st.DrawFn) -> list[Task]:
    """Tasks that depend on tasks before them."""
    tasks: list[Task] = []
    for number in range(draw(st.integers(1, 25))):
        before = [task.id for task in tasks]
        needs = draw(st.lists(st.sampled_from(before), max_size=3)) if before else []
        tasks.append(task_of(f"T{number}", *needs))
    return tasks


def task_of(name: str, *needs: str, status: TaskStatus = TaskStatus.PENDING) -> Task:
    return Task(id=name, kind=TaskKind.REASONING, description=name, depends_on=needs, status=status)


def stored(tasks: Sequence[Task], change: int = 1) -> list[StoredTask]:
    return [
        StoredTask(task=task, position=at, attempt=1, root=task.id, added_by_change=change)
        for at, task in enumerate(tasks)
    ]


@given(plans(), st.data())
@pytest.mark.slow
def test_added_tasks_move_no_other_task(tasks: list[Task], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(tasks)))

    before = {box.id: box for box in plan_layout(tasks[:count]).boxes}
    after = {box.id: box for box in plan_layout(tasks).boxes}

    assert {name: after[name] for name in before} == before


@given(plans())
@pytest.mark.slow
def test_every_task_has_a_place_of_its_own_behind_what_it_needs(tasks: list[Task]) -> None:
    layout, columns = plan_layout(tasks), columns_of(tasks)
    places = {(box.x, box.y) for box in layout.boxes}

    assert len(places) == len(tasks)
    assert all(columns[need] < columns[task.id] for task in tasks for need in task.depends_on)
    assert all(box.x < layout.width and box.y < layout.height for box in layout.boxes)


@given(st.text(max_size=200), st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", fullmatch=True))
@example("Find the owner of the pier", "find-the-owner-of-the-pier")
def test_a_box_names_its_task_on_two_lines_that_fit(description: str, name: str) -> None:
    task = task_of(name).with_description(description, "")

    (drawn,) = draw_plan(stored([task]), []).tasks

    assert 1 <= len(drawn.lines) <= 2
    assert drawn.id == name
    assert len(drawn.drawn_id + drawn.lines[0]) <= 22
    assert all(len(line) <= 25 for line in drawn.lines)
    assert "".join(drawn.lines).removesuffix("…").replace(" ", "") in "".join(description.split())


def test_a_plan_of_two_thousand_tasks_is_folded_around_the_chosen_task() -> None:
    tasks = [task_of("T0"), *(task_of(f"T{n}", f"T{(n - 1) // 2}") for n in range(1, 2000))]
    began = time.process_time()

    folded = draw_plan(stored(tasks), [])
    chosen = draw_plan(stored(tasks), [], chosen="T700")

    assert folded.tasks == ()
    assert sum(len(phase.tasks) for phase in folded.phases) == 2000
    assert {"T700", "T349", "T1401", "T1402"} <= {task.id for task in chosen.tasks}
    assert len(chosen.tasks) <= MOST_DRAWN
    assert time.process_time() - began < 2


def test_an_earlier_revision_shows_what_was_there_at_its_place() -> None:
    first, second = task_of("T1", status=TaskStatus.SUPERSEDED), task_of("T1a")
    tasks = [*stored([first]), *stored([second], change=2)]
    changes = [
        StoredPlanChange(number=1, cause=PlanChangeCause.PLANNED, added=("T1",)),
        StoredPlanChange(
            number=2, cause=PlanChangeCause.REPLANNED, added=("T1a",), superseded=("T1",)
        ),
    ]

    now = draw_plan(tasks, changes)
    then = draw_plan(tasks, changes, revision=1)

    assert [task.state for task in then.tasks] == ["pending", "later"]
    assert [task.state for task in now.tasks] == ["gone", "pending"]
    assert [(task.x, task.y) for task in now.tasks] == [(task.x, task.y) for task in then.tasks]


def test_a_circle_of_tasks_is_still_drawn() -> None:
    drawn = draw_plan(stored([task_of("T1", "T2"), task_of("T2", "T1")]), [])

    assert [task.id for task in drawn.tasks] == ["T1", "T2"]
