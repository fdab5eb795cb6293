"""Tests for a plan that a person edits: read, compared, and renamed next to a plan that was set
aside."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import JsonValue

from holdfast.models.errors import BadInput
from holdfast.models.plans.kpi_chain_format import to_listing
from holdfast.models.plans.research_plan import Plan, TaskInput, TaskStatus
from holdfast.planning.plans.entity_references import references_in
from holdfast.planning.plans.fresh_task_ids import with_fresh_ids
from holdfast.planning.plans.plan_edits import discard_change, edit_change, parse_plan, plan_as_yaml
from tests.support.jobs.plan_builders import final_task, lookup_task, plan, result_reference

THREE = plan(
    lookup_task("T1"),
    lookup_task("T2", "T1", query=f"of {result_reference('T1')}"),
    final_task("T3", "T2"),
)
_TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(["1e3", "+.5E-1", "no"])
_NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
_JSON = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_AGENT = "- {task_id: T1, task_type: Agent, task_description: d"


def test_what_is_printed_for_an_editor_is_read_back_as_the_same_plan() -> None:
    assert parse_plan(plan_as_yaml(THREE)) == THREE
    assert parse_plan(json.dumps([to_listing(task) for task in THREE.tasks])) == THREE


@given(_JSON)
@example("a line\x85another\u2028word")
@example("1.5e3")
@example({"1.5e3": {"<<": "="}})
@pytest.mark.slow
def test_every_text_and_value_of_a_plan_is_read_back_from_yaml_as_it_was(value: JsonValue) -> None:
    said = value if isinstance(value, str) else "why"
    given_value = TaskInput(name="query", value=value).with_reference_flag()
    task = lookup_task("T1").model_copy(update={"description": said, "inputs": (given_value,)})

    assert parse_plan(plan_as_yaml(plan(task))) == plan(task)


def test_a_superseded_task_is_not_offered_for_editing() -> None:
    gone = THREE.tasks[0].superseded()

    assert "T1" not in [
        task.id for task in parse_plan(plan_as_yaml(plan(gone, THREE.tasks[1]))).tasks
    ]


def test_a_new_task_needs_only_what_says_what_it_is() -> None:
    text = (
        "- task_id: T9\n  task_type: Reasoning\n  task_description: think\n"
        "  expected_output_entities: [{name: x}]"
    )

    [task] = parse_plan(text).tasks

    assert (task.id, task.status, task.inputs, task.expects[0].name) == (
        "T9",
        TaskStatus.PENDING,
        (),
        "x",
    )


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
        parse_plan(text)


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(BadInput) as caught:
        parse_plan("[{task_id: T1}, {task_id: T2}]")

    assert "'T1'" in str(caught.value)
    assert "'T2'" in str(caught.value)


def test_an_edit_says_what_came_what_went_and_what_is_another_now() -> None:
    wanted = plan(lookup_task("T1", query="else"), lookup_task("T4"), final_task("T3", "T4"))

    edit = edit_change(THREE, wanted)

    assert (edit.added_ids, edit.superseded) == (("T4",), ("T2",))
    assert [(each.task, each.field) for each in edit.changed] == [
        ("T1", "inputs"),
        ("T3", "inputs"),
        ("T3", "depends_on"),
    ]
    after = edit.apply_to(THREE)
    assert [task.id for task in after.tasks] == ["T1", "T2", "T3", "T4"]
    assert after.by_id["T2"].status is TaskStatus.SUPERSEDED
    assert (after.by_id["T1"], after.by_id["T3"]) == (wanted.by_id["T1"], wanted.by_id["T3"])


def test_an_edit_that_changes_nothing_is_empty() -> None:
    edit = edit_change(THREE, parse_plan(plan_as_yaml(THREE)))

    assert not edit.has_changes
    assert edit.apply_to(THREE) == THREE


def test_a_discarded_plan_has_no_live_task() -> None:
    assert discard_change(THREE, "not this one").apply_to(THREE).live == ()


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
    task = lookup_task(
        "T2", "T1", query=" ".join(f"<JSON_PATH>{each}</JSON_PATH>" for each in forms)
    )

    fresh = with_fresh_ids(Plan(tasks=(lookup_task("T1"), task)), {"T1"})

    text = fresh.by_id["T2"].inputs[0].value
    assert [r.path for r in references_in(text)] == [
        "T1a.x",
        "$.T1a.x[0]",
        "$['T1a']['x']",
        '$["T1a"].x',
        "T12.x",
    ]


def test_a_plan_whose_ids_are_free_stays_as_it_is() -> None:
    assert with_fresh_ids(THREE, {"T9"}) is THREE
