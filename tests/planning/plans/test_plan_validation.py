"""Tests for plan validation: a plan is refused and each fault is named with its task (KPI-03)."""

from collections.abc import Callable

import pytest

from holdfast.models.plans.research_plan import (
    MAX_TASKS,
    EntityType,
    ExpectedEntity,
    Plan,
    Task,
    TaskInput,
    TaskKind,
)
from holdfast.planning.plans.plan_validation import PlanRules, plan_faults
from tests.support.jobs.plan_builders import (
    SEARCH,
    TOOLS,
    final_task,
    lookup_task,
    plan,
    result_reference,
)

GROUND = PlanRules(tools=TOOLS)


def with_inputs(task: Task, *inputs: TaskInput) -> Task:
    return task.model_copy(update={"inputs": inputs})


def good() -> Plan:
    return plan(
        lookup_task("T1"),
        lookup_task("T2", "T1", query=f"more on {result_reference('T1')}"),
        final_task("T3", "T1", "T2"),
    )


@pytest.mark.conformance("KPI-03")
def test_a_good_plan_has_no_fault() -> None:
    assert plan_faults(good(), GROUND) == ()


FAULTY: list[tuple[str, Callable[[], Plan], str, str]] = [
    ("no tasks", plan, "", "no tasks"),
    (
        "unknown tool",
        lambda: plan(
            lookup_task("T1").model_copy(update={"tool": "lab.dig"}), final_task("T2", "T1")
        ),
        "T1",
        "unknown tool 'lab.dig'; known tools: lab.wikipedia_search",
    ),
    (
        "missing parameter",
        lambda: plan(with_inputs(lookup_task("T1")), final_task("T2", "T1")),
        "T1",
        "needs the parameter 'query'",
    ),
    (
        "invented parameter",
        lambda: plan(
            with_inputs(
                lookup_task("T1"),
                TaskInput(name="query", value="q"),
                TaskInput(name="Query", value="q"),
            ),
            final_task("T2", "T1"),
        ),
        "T1",
        "no parameter 'Query'",
    ),
    (
        "mistyped literal",
        lambda: plan(
            with_inputs(
                lookup_task("T1"),
                TaskInput(name="query", value="q"),
                TaskInput(name="limit", value="many"),
            ),
            final_task("T2", "T1"),
        ),
        "T1",
        "'limit' does not fit",
    ),
    (
        "mistyped reference",
        lambda: plan(
            lookup_task("T1", kind=EntityType.ARRAY),
            lookup_task("T2", "T1", query=result_reference("T1")),
            final_task("T3", "T2"),
        ),
        "T2",
        "takes string, but its reference yields array",
    ),
    (
        "duplicate id",
        lambda: plan(lookup_task("T1"), lookup_task("T1"), final_task("T2", "T1")),
        "T1",
        "the id is used 2 times",
    ),
    (
        "unknown dependency",
        lambda: plan(lookup_task("T1", "T7"), final_task("T2", "T1")),
        "T1",
        "depends on 'T7', which does not exist",
    ),
    (
        "dependency on itself",
        lambda: plan(lookup_task("T1", "T1"), final_task("T2", "T1")),
        "T1",
        "depends on itself",
    ),
    (
        "cycle",
        lambda: plan(lookup_task("T1", "T2"), lookup_task("T2", "T1"), final_task("T3", "T2")),
        "T1",
        "form a cycle",
    ),
    (
        "undeclared entity",
        lambda: plan(
            lookup_task("T1"),
            lookup_task("T2", "T1", query=result_reference("T1", "height")),
            final_task("T3", "T1", "T2"),
        ),
        "T2",
        "an entity that 'T1' does not promise",
    ),
    (
        "reference without dependency",
        lambda: plan(
            lookup_task("T1"),
            lookup_task("T2", query=result_reference("T1")),
            final_task("T3", "T1", "T2"),
        ),
        "T2",
        "'T1' is not a dependency",
    ),
    (
        "malformed reference",
        lambda: plan(
            lookup_task("T1"),
            lookup_task("T2", "T1", query="<JSON_PATH>T1.[</JSON_PATH>"),
            final_task("T3", "T2"),
        ),
        "T2",
        "is not a JSONPath",
    ),
    (
        "last task without the final answer",
        lambda: plan(lookup_task("T1")),
        "T1",
        "must yield exactly 'final_answer'",
    ),
    (
        "last task with more than the final answer",
        lambda: plan(
            lookup_task("T1"),
            final_task("T2", "T1").model_copy(
                update={
                    "expects": (ExpectedEntity(name="final_answer"), ExpectedEntity(name="other"))
                }
            ),
        ),
        "T2",
        "must yield exactly 'final_answer'",
    ),
    (
        "final answer in the middle",
        lambda: plan(lookup_task("T1", yields="final_answer"), final_task("T2")),
        "T1",
        "only the last task",
    ),
    (
        "promises nothing",
        lambda: plan(lookup_task("T1").model_copy(update={"expects": ()}), final_task("T2")),
        "T1",
        "promises no entity",
    ),
    (
        "raw output",
        lambda: plan(lookup_task("T1", yields="raw_data"), final_task("T2")),
        "T1",
        "raw output",
    ),
    (
        "reasoning with a tool",
        lambda: plan(
            lookup_task("T1"),
            final_task("T2", "T1").model_copy(update={"tool": "lab.wikipedia_search"}),
        ),
        "T2",
        "is a reasoning task but names the tool",
    ),
    (
        "too many tasks",
        lambda: plan(*(lookup_task(f"T{n}") for n in range(MAX_TASKS + 1))),
        "",
        "the limit is",
    ),
]


@pytest.mark.conformance("KPI-03")
@pytest.mark.parametrize(
    ("broken", "task", "words"),
    [case[1:] for case in FAULTY],
    ids=[case[0] for case in FAULTY],
)
def test_each_fault_is_named_with_its_task(
    broken: Callable[[], Plan], task: str, words: str
) -> None:
    faults = plan_faults(broken(), GROUND)

    assert any(
        words in fault and repr(task) in fault if task else words in fault for fault in faults
    )


def test_a_continuation_may_use_what_stays_but_no_used_id() -> None:
    kept = lookup_task("T1")
    ground = PlanRules(tools=TOOLS, kept={"T1": kept}, used_ids=frozenset({"T1", "T2", "T3"}))

    fine = plan(lookup_task("T2a", "T1", query=result_reference("T1")), final_task("T3a", "T2a"))
    taken = plan(lookup_task("T2", "T1", query=result_reference("T1")), final_task("T3a", "T2"))

    assert plan_faults(fine, ground) == ()
    assert any("belongs to an earlier task" in fault for fault in plan_faults(taken, ground))


def test_a_continuation_of_a_side_branch_needs_no_second_final_answer() -> None:
    ground = PlanRules(tools=TOOLS, used_ids=frozenset({"T1", "T9"}), needs_final=False)

    assert plan_faults(plan(lookup_task("T1a")), ground) == ()
    assert "no task may yield 'final_answer' here" in " ".join(
        plan_faults(plan(lookup_task("T1a"), final_task("T9a", "T1a")), ground)
    )


def test_names_of_kinds_are_a_closed_set() -> None:
    assert {kind.value for kind in TaskKind} == {"tool", "reasoning", "agent"}


@pytest.mark.conformance("HZN-07")
@pytest.mark.parametrize(
    ("value", "fault"),
    [("spouse of", False), (["spouse of"], True), (3, True), ("spouse", False)],
)
def test_which_values_a_parameter_knows_is_asked_at_the_call_and_its_type_before(
    value: object, fault: bool
) -> None:
    schema = {
        "type": "object",
        "properties": {"query": {"type": "string", "enum": ["spouse", "child"]}},
    }
    tools = {SEARCH.name: SEARCH.model_copy(update={"input_schema": schema})}
    asked = lookup_task("T1").model_copy(update={"inputs": (TaskInput(name="query", value=value),)})

    faults = plan_faults(plan(asked, final_task("T2", "T1")), PlanRules(tools=tools))

    assert bool(faults) is fault, faults


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize(
    "mark", ["{{T1.value}}", "{{ T1.value }}", "${T1.value}", "$T1.value", "<T1.value>"]
)
def test_marks_of_other_languages_are_refused_with_the_right_spelling(mark: str) -> None:
    second = lookup_task("T2", "T1", query=f"governor of {mark} in 1900")
    plan_ = plan(lookup_task("T1"), second, final_task("T3", "T2"))

    (fault,) = plan_faults(plan_, PlanRules(tools=TOOLS))

    assert f"{mark!r} is no reference; write <JSON_PATH>T1.value</JSON_PATH>" in fault


@pytest.mark.parametrize("text", ["{{name}}", "$5.20 a <b>", "<T9.value>", "use {{other.thing}}"])
def test_what_names_no_task_is_text(text: str) -> None:
    plan_ = plan(lookup_task("T1", query=text), final_task("T3", "T1"))

    assert plan_faults(plan_, PlanRules(tools=TOOLS)) == ()


def test_a_reference_with_the_root_sign_is_one() -> None:
    second = lookup_task("T2", "T1", query="more on <JSON_PATH>$.T1.value</JSON_PATH>")

    assert plan_faults(plan(lookup_task("T1"), second, final_task("T3", "T2")), GROUND) == ()
