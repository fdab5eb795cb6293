"""A plan that somebody edits: read, compared, and renamed beside one that was set aside."""

import json

import pytest

from models.errors import BadInput
from models.listing import to_listing
from models.plan import Plan, TaskStatus
from planning.edited import editable, edited, read_plan
from planning.references import references_in
from planning.renaming import with_fresh_ids
from tests.support.plans import final, plan, ref, tool

THREE = plan(tool("T1"), tool("T2", "T1", query=f"of {ref('T1')}"), final("T3", "T2"))
_AGENT = "- {task_id: T1, task_type: Agent, task_description: d"


def test_what_is_printed_for_an_editor_is_read_back_as_the_same_plan() -> None:
    assert read_plan(editable(THREE)) == THREE
    assert read_plan(json.dumps([to_listing(task) for task in THREE.tasks])) == THREE


def test_a_superseded_task_is_not_offered_for_editing() -> None:
    gone = THREE.tasks[0].model_copy(update={"status": TaskStatus.SUPERSEDED})

    assert "T1" not in [task.id for task in read_plan(editable(plan(gone, THREE.tasks[1]))).tasks]


def test_a_new_task_needs_only_what_says_what_it_is() -> None:
    text = (
        "- task_id: T9\n  task_type: Reasoning\n  task_description: think\n"
        "  expected_output_entities: [{name: x}]"
    )

    [task] = read_plan(text).tasks

    assert (task.id, task.status, task.inputs, task.expects[0].name) == (
        "T9", TaskStatus.PENDING, (), "x",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "no tasks"),
        ("tasks: 3", "no tasks"),
        ("a: [", "neither YAML nor JSON"),
        ("- T1", "task 1 is not a mapping"),
        ("- {task_id: T1, task_type: Reasoning}", "task 'T1': task_description is missing"),
        ("- {task_type: Reasoning}", "task '1': task_id is missing"),
        (
            "- {task_id: T1, task_type: Guess, task_description: d, expected_output_entities: []}",
            "task 'T1': kind: Input should be",
        ),
        (
            f"{_AGENT}, expected_output_entities: [], priority: 99}}",
            "task 'T1': priority: Input should be less",
        ),
        (
            f"{_AGENT}, expected_output_entities: 7}}",
            "task 'T1': 'int' object is not iterable",
        ),
    ],
)
def test_what_is_no_plan_is_refused_with_its_fault(text: str, fault: str) -> None:
    with pytest.raises(BadInput, match=fault):
        read_plan(text)


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(BadInput) as caught:
        read_plan("[{task_id: T1}, {task_id: T2}]")

    assert "'T1'" in str(caught.value)
    assert "'T2'" in str(caught.value)


def test_an_edit_says_what_came_what_went_and_what_is_another_now() -> None:
    wanted = plan(tool("T1", query="else"), tool("T4"), final("T3", "T4"))

    edit = edited(THREE, wanted)

    assert (edit.added, edit.superseded) == (("T4",), ("T2",))
    assert [(each.task, each.field) for each in edit.changed] == [
        ("T1", "inputs"), ("T3", "inputs"), ("T3", "depends_on"),
    ]  # fmt: skip
    assert [task.id for task in edit.plan.tasks] == ["T1", "T2", "T3", "T4"]
    assert edit.plan.by_id["T2"].status is TaskStatus.SUPERSEDED


def test_an_edit_that_changes_nothing_is_empty() -> None:
    edit = edited(THREE, read_plan(editable(THREE)))

    assert (edit.added, edit.superseded, edit.changed, edit.plan) == ((), (), (), THREE)


def test_a_new_plan_gets_fresh_ids_in_dependencies_and_references() -> None:
    fresh = with_fresh_ids(THREE, {"T1", "T2", "T2a"})

    assert [task.id for task in fresh.tasks] == ["T1a", "T2b", "T3"]
    assert [task.depends_on for task in fresh.tasks] == [(), ("T1a",), ("T2b",)]
    named = {
        r.task_id
        for task in fresh.tasks
        for given in task.inputs
        for r in references_in(given.value)
    }
    assert named == {"T1a", "T2b"}


def test_references_of_every_form_are_renamed() -> None:
    forms = ["T1.x", "$.T1.x[0]", "$['T1']['x']", '$["T1"].x', "T12.x"]
    task = tool("T2", "T1", query=" ".join(f"<JSON_PATH>{each}</JSON_PATH>" for each in forms))

    fresh = with_fresh_ids(Plan(tasks=(tool("T1"), task)), {"T1"})

    text = fresh.by_id["T2"].inputs[0].value
    assert [r.path for r in references_in(text)] == [
        "T1a.x", "$.T1a.x[0]", "$['T1a']['x']", '$["T1a"].x', "T12.x",
    ]  # fmt: skip


def test_a_plan_whose_ids_are_free_stays_as_it_is() -> None:
    assert with_fresh_ids(THREE, {"T9"}) is THREE
