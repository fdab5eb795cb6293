"""Tests for the form that edits a plan: fields, faults at their fields, and a run without scripts."""

import re

import pytest
from playwright.async_api import Browser, expect
from pydantic import JsonValue

from holdfast.jobs.job_controller import JobController
from holdfast.jobs.written_texts import MAX_TEXT_LENGTH, checked_words
from holdfast.models.errors import BadInput, ServiceDown
from holdfast.models.plans.research_plan import (
    EntityType,
    ExpectedEntity,
    Plan,
    TaskInput,
    TaskStatus,
)
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.planning.plans.plan_edits import editable_plan, parse_plan
from holdfast.planning.plans.plan_validation import PlanRules, plan_faults
from holdfast.storage.plans.plan_change_rows import load_plan_changes
from holdfast.storage.plans.task_queries import load_plan
from holdfast.web.rendering.braced_references import with_braces
from holdfast.web.rendering.moved_plan_form import with_unused_ids
from holdfast.web.rendering.plan_fault_places import place_faults
from holdfast.web.rendering.plan_form import (
    InputFields,
    OutputFields,
    TaskFields,
    fields_of_plan,
    read_task_fields,
    with_new_task,
    without_task,
    written_plan,
)
from holdfast.web.rendering.shown_text import shown_text
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import TOOLS, agent_task, final_task, lookup_task, plan
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import only_long
from tests.support.services.browser import Reader, signed_in
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

LIMIT = TaskInput(name="limit", type=EntityType.INTEGER, value=3)
ODD = TaskInput(name="note", value=[1, "two"])
"""A list that is called a text."""
STORED = plan(
    lookup_task("T1", query="the  pier\nof 1894", criteria="a name"),
    lookup_task("T2", "T1", query="<JSON_PATH>T1.value</JSON_PATH>", priority=9),
    agent_task("T3", "T1", queries=["who", "when"]),
    final_task("T4", "T1", "T2", "T3"),
)
IDS = frozenset(STORED.by_id)


def sent(tasks: list[TaskFields]) -> dict[str, str]:
    """The form as a browser sends it: as shown, its own line ends, an empty row at each end."""
    form = {}
    for number, task in enumerate(tasks):
        texts = task.model_dump(exclude={"inputs", "outputs"})
        form |= {f"{number}.{name}": value for name, value in texts.items()}
        for row, each in enumerate((*task.inputs, InputFields())):
            value = with_braces(each.value, IDS)
            form |= {f"{number}.in{row}.{name}": text for name, text in each}
            form[f"{number}.in{row}.value"] = value
        for row, each in enumerate((*task.outputs, OutputFields())):
            form |= {f"{number}.out{row}.{name}": value for name, value in each}
    fields_of_a_line = re.compile(r".*\.(name|id|tool|agent|needs)|.*\.out\d+\.description")
    shown = {
        name: shown_text(value).replace("\n", "" if fields_of_a_line.fullmatch(name) else "\n")
        for name, value in form.items()
    }
    return {name: value.replace("\n", "\r\n") for name, value in shown.items()}


def test_a_person_writes_a_reference_in_braces() -> None:
    tasks = fields_of_plan(STORED)
    form = sent(tasks)

    assert form["1.in0.value"] == "{{T1.value}}"
    form["1.in0.value"] = "cost of {{ T1.value }}, not {{odd}}"
    [changed] = [
        each.value
        for task in parse_plan(written_plan(read_task_fields(form, STORED), STORED)).tasks
        if task.id == "T2"
        for each in task.inputs
    ]
    assert changed == "cost of <JSON_PATH>T1.value</JSON_PATH>, not {{odd}}"


def edited_query(written: str, stored: Plan = STORED) -> JsonValue:
    """The query of T2 after its field was edited to `written`."""
    form = sent(fields_of_plan(stored))
    form["1.in0.value"] = written
    tasks = parse_plan(written_plan(read_task_fields(form, stored), stored)).by_id
    return tasks["T2"].inputs[0].value


def test_braces_of_other_templates_stay_as_they_were_written() -> None:
    text = "{{ order.id }}\n{{ a.b | upper }}\n{{order}} old"
    first, second, *others = STORED.tasks
    stored = plan(first, second.with_inputs((TaskInput(name="query", value=text),)), *others)

    assert edited_query(text.replace("old", "new"), stored) == text.replace("old", "new")


@pytest.mark.parametrize("path", ["T1.rows[0].name", "T1.rows[*]", "T1.rows[0:2]", "$.T1.value"])
def test_each_path_that_a_plan_has_is_shown_and_read_in_braces(path: str) -> None:
    stored = f"names: <JSON_PATH>{path}</JSON_PATH>"

    assert with_braces(stored, IDS) == f"names: {{{{{path}}}}}"
    assert edited_query(f"names: {{{{ {path} }}}}") == stored


@pytest.mark.parametrize("path", ["T9.value", "T1", "T1.a['{']"])
def test_a_path_that_would_not_be_read_again_keeps_its_marks(path: str) -> None:
    assert with_braces(f"<JSON_PATH>{path}</JSON_PATH>", IDS) == f"<JSON_PATH>{path}</JSON_PATH>"


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("{{T1.rows[}}", r"parameter 'query': '{{T1.rows\[}}' names no value of a task"),
        ("{{ T1 }}", r"write {{T1.name}}, {{T1.names\[0\]}} or"),
        ("{{T1.a | upper}}", "names no value of a task"),
        ("{{T8.value}}", "'{{T8.value}}' names a task that the plan does not have"),
        (f"{{{{T1.[{'x' * 5_000}}}}}", "names no value of a task"),
    ],
)
def test_braces_that_name_a_task_and_no_value_are_a_fault_of_their_field(
    written: str, fault: str
) -> None:
    with pytest.raises(BadInput, match=fault) as raised:
        edited_query(written)

    assert len(str(raised.value)) < 300
    tasks = fields_of_plan(STORED)
    assert list(place_faults(str(raised.value), tasks).of_fields) == [(1, "inputs")]


def test_a_form_that_nobody_changed_gives_the_plan_that_is_stored() -> None:
    first = STORED.tasks[0]
    whole = plan(first.with_inputs((*first.inputs, LIMIT, ODD)), *STORED.tasks[1:])
    tasks = read_task_fields(sent(fields_of_plan(whole)), whole)

    assert parse_plan(written_plan(tasks, whole)) == editable_plan(whole)


ODD_VALUES: tuple[JsonValue, ...] = (
    1e-05, 1e22, 1.0, 10**4000, "1e-05", "1.5e3", "NaN", "null", None, True, "", " ", "no",
    {"a": [1e-07, "\u0085"]}, "\x7f\x9f", "one\u0085two", "one\u2028two", "\u202eright", "\ufeffx",
    "a\r\nb\rc\n", "\n\tif x:\n\t\treturn  1\n\n",
)  # fmt: skip


def with_values(*values: JsonValue) -> Plan:
    """A plan whose first task has these values as inputs, under names with such signs."""
    types = {bool: "boolean", int: "integer", float: "number", dict: "dict"}
    odd = (
        TaskInput(name=f"n\u0085{at}", type=EntityType(types.get(type(each), "string")), value=each)
        for at, each in enumerate(values)
    )
    promised = ExpectedEntity(name="a\u202eb", description="one\ntwo\u0085three")
    first = STORED.tasks[0].with_inputs((*STORED.tasks[0].inputs, *odd))
    worded = first.with_description("find\n\tthe \u0085pier ", " a\u202ename")
    return plan(worded.model_copy(update={"expects": (promised,)}), *STORED.tasks[1:])


def test_a_form_that_nobody_changed_keeps_each_odd_value() -> None:
    whole = with_values(*ODD_VALUES)
    tasks = read_task_fields(sent(fields_of_plan(whole)), whole)

    assert parse_plan(written_plan(tasks, whole)) == editable_plan(whole)


def test_an_edit_of_white_space_counts_and_other_lines_stay_as_they_are_stored() -> None:
    code = "if x:\n\ty = '\u202eold'\n\tz = 'old'"
    whole = with_values(code)
    form = sent(fields_of_plan(whole))
    form["0.in1.value"] = form["0.in1.value"].replace("z = 'old'", "z = 'new'")
    form["0.description"] = form["0.description"].replace("\t", "\t\t")
    [first, *_] = parse_plan(written_plan(read_task_fields(form, STORED), whole)).tasks

    assert first.inputs[1].value == code.replace("z = 'old'", "z = 'new'")
    assert first.description == "find\n\t\tthe  pier"
    form["0.in1.value"] = form["0.in1.value"].replace("\t", "    ")
    [first, *_] = parse_plan(written_plan(read_task_fields(form, STORED), whole)).tasks
    assert first.inputs[1].value == "if x:\n    y = 'old'\n    z = 'new'"


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("[" * 100_000, r"'\[+' is no array in JSON"),
        ("[" * 150 + "]" * 150, "is no array in JSON"),
        ("[NaN]", "is no array in JSON"),
        ("[1e999]", "is no array in JSON"),
        ("9" * 5_000, "is no array in JSON"),
    ],
)
def test_a_value_that_json_cannot_hold_is_a_fault_of_its_field(value: str, fault: str) -> None:
    tasks = fields_of_plan(STORED)
    odd = InputFields(name="n" * 5_000, type="array", value=value)
    tasks[1] = tasks[1].model_copy(update={"inputs": (odd,)})

    with pytest.raises(BadInput, match=fault) as raised:
        written_plan(tasks, STORED)

    assert list(place_faults(str(raised.value), tasks).of_fields) == [(1, "inputs")]
    assert len(str(raised.value)) < 200


def test_a_priority_of_many_digits_is_a_fault_of_its_field() -> None:
    tasks = fields_of_plan(STORED)
    tasks[0] = tasks[0].model_copy(update={"priority": "9" * 5_000})

    with pytest.raises(BadInput) as raised:
        parse_plan(written_plan(tasks, STORED))

    assert list(place_faults(str(raised.value), tasks).of_fields) == [(0, "priority")]


def test_no_row_of_a_form_is_cut_and_too_many_tasks_are_refused() -> None:
    many = STORED.tasks[0].with_inputs(
        tuple(TaskInput(name=f"n{number}", value="x") for number in range(300))
    )
    [read] = read_task_fields(sent(fields_of_plan(plan(many))), plan(many))

    assert [each.name for each in read.inputs] == [f"n{number}" for number in range(300)]
    with pytest.raises(BadInput, match="the form has 502 tasks; a plan has at most 500"):
        read_task_fields({f"{number}.id": "T1" for number in range(502)}, STORED)


def test_tasks_that_were_written_for_an_earlier_plan_get_ids_that_are_free() -> None:
    gone = [task.superseded() for task in STORED.tasks[:2]]
    stored = plan(*gone, lookup_task("T1a"), final_task("T5", "T1a"))
    tasks = with_unused_ids(fields_of_plan(STORED), stored)

    assert [each.id for each in tasks] == ["T1b", "T2a", "T3", "T4"]
    assert [each.needs for each in tasks] == ["", "T1b", "T1b", "T1b T2a T3"]
    assert tasks[1].inputs[0].value == "<JSON_PATH>T1b.value</JSON_PATH>"
    rules = PlanRules(TOOLS, used_ids=frozenset({"T1", "T2"}))
    faults = plan_faults(parse_plan(written_plan(tasks, stored)), rules)
    assert not [each for each in faults if "belongs to an earlier task" in each]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        (InputFields(value="x"), "parameter '' has no name"),
        (InputFields(name="limit", type="integer", value="few"), "'few' is no integer in JSON"),
    ],
)
def test_an_input_that_is_none_is_a_fault_of_its_task(fields: InputFields, fault: str) -> None:
    tasks = fields_of_plan(STORED)
    tasks[1] = tasks[1].model_copy(update={"inputs": (*tasks[1].inputs, fields)})

    with pytest.raises(BadInput, match=fault) as raised:
        written_plan(tasks, STORED)

    assert list(place_faults(str(raised.value), tasks).of_fields) == [(1, "inputs")]


def test_each_fault_of_a_plan_stands_at_its_field() -> None:
    """The words of the engine's faults decide, so these come from the engine itself."""
    tasks = fields_of_plan(STORED)
    broken = [
        tasks[0].model_copy(update={"tool": "lab.teleport", "outputs": ()}),
        tasks[1].model_copy(update={"needs": "T9", "inputs": ()}),
        tasks[2].model_copy(update={"id": "3", "agent": "nobody", "description": " "}),
        tasks[3],
    ]
    edited = parse_plan(written_plan(broken, plan()))
    found = place_faults("; ".join(plan_faults(edited, PlanRules(TOOLS))), broken)

    assert found.of_plan == ()
    assert set(found.of_fields) == {
        (0, "tool"), (0, "outputs"), (1, "needs"), (1, "inputs"), (2, "id"), (2, "agent"),
        (2, "description"), (3, "needs"), (3, "inputs"),
    }  # fmt: skip
    with pytest.raises(BadInput) as raised:
        parse_plan(written_plan([tasks[0].model_copy(update={"priority": "77"})], STORED))
    assert list(place_faults(str(raised.value), tasks).of_fields) == [(0, "priority")]
    assert place_faults("the plan has no tasks", tasks).of_plan == ("the plan has no tasks",)


def test_a_task_is_added_before_the_answer_and_removed_from_what_others_need() -> None:
    tasks = with_new_task(fields_of_plan(STORED), {"T5"})
    left = without_task(tasks, 0)

    assert [each.id for each in tasks] == ["T1", "T2", "T3", "T6", "T4"]
    assert (tasks[3].kind, tasks[3].tool) == ("tool", "lab.wikipedia_search")
    assert tasks[3].inputs == (InputFields(name="query"),)
    assert tasks[4].needs == "T1 T2 T3 T6"
    assert [each.needs for each in left] == ["", "", "", "T2 T3 T6"]
    comma = tasks[4].model_copy(update={"needs": "T1, T2"})
    assert without_task([*tasks[:4], comma], 0)[-1].needs == "T2"


def test_an_edited_plan_may_be_longer_than_another_answer() -> None:
    text = "x" * (MAX_TEXT_LENGTH + 1)

    assert checked_words("edit", text) == text
    with pytest.raises(BadInput, match="the limit is 20,000"):
        checked_words("revise", text)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.conformance("WEB-01")
@pytest.mark.conformance("WEB-07")
@pytest.mark.parametrize("scripts", [True, only_long(False)], ids=["scripts", "without scripts"])
async def test_a_plan_is_edited_field_by_field_and_runs(
    scripts: bool,
    engine: RunningEngine,
    browser: Browser,
    serving: HttpService,
    players: ScriptedRoles,
    tools: ScriptedTools,
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), lookup_task("T2"), final_task("T3", "T1"))
    job_id = await engine.submit("Who built the pier?", review=True)
    question = await wait_for_question(engine, job_id, QuestionKind.APPROVAL)
    async with signed_in(browser, serving, java_script_enabled=scripts) as reader:
        await reader.goto(f"/jobs/{job_id}")
        await reader.page.get_by_role("link", name="Edit the plan").click()
        if scripts:
            await check_accessible(reader)
        await reader.page.get_by_label("Value of input 1").first.fill("the pier")
        await reader.page.get_by_role("button", name="Remove T2").click()
        await reader.page.get_by_role("button", name="Add a task").click()
        added = reader.page.locator("details", has_text="a new task")
        await added.get_by_label("What it is to find out").fill("find the builder")
        await added.get_by_label("Id", exact=True).press("Enter")  # neither runs nor removes
        await reader.page.get_by_role("button", name="Run the edited plan").click()

        await expect(reader.page.get_by_role("alert")).to_contain_text("The plan was not run: T4")
        faulty = reader.page.locator("details", has_text="find the builder")
        await expect(faulty.locator("#fault-1-outputs")).to_contain_text("Promises no entity")
        await expect(faulty.locator("[aria-describedby=fault-1-outputs]")).to_be_visible()
        if scripts:
            await check_accessible(reader)
        await faulty.get_by_label("Value of input 1").fill("the builder")
        await faulty.get_by_label("Name of value 1").fill("builder")
        await reader.page.get_by_role("button", name="Run the edited plan").click()
        await expect(reader.page.locator("main")).to_contain_text("Your answer was taken")
        assert [each for each in reader.complaints if "422" not in each and "400" not in each] == []
    await engine.holdfast.wait(job_id)

    assert question.kind is QuestionKind.APPROVAL
    assert sorted(argument for _, argument in tools.called) == ["the builder", "the pier"]
    tasks = (await load_plan(engine.db, job_id)).tasks
    assert {each.id: each.status for each in tasks} == {
        "T1": TaskStatus.DONE,
        "T2": TaskStatus.SUPERSEDED,
        "T3": TaskStatus.DONE,
        "T4": TaskStatus.DONE,
    }
    assert [each.cause for each in await load_plan_changes(engine.db, job_id)] == [
        "planned",
        "edited",
    ]


async def check_accessible(reader: Reader) -> None:
    for width in (1440, 360):
        await reader.page.set_viewport_size({"width": width, "height": 800})
        await reader.check_accessible()


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.long
async def test_an_edit_of_a_plan_that_has_changed_runs_nothing_and_is_kept(
    engine: RunningEngine,
    reader: Reader,
    players: ScriptedRoles,
    tools: ScriptedTools,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    job_id = await engine.submit("Who built the pier?", review=True)
    first = await wait_for_question(engine, job_id, QuestionKind.APPROVAL)
    await reader.goto(f"/jobs/{job_id}/plan")
    controller = JobController(engine.holdfast, "maria")
    await controller.answer(job_id, first.id, "revise", "ask for the year, too")
    await wait_for_question(engine, job_id, QuestionKind.APPROVAL, after=first.id)
    await reader.page.get_by_label("What it is to find out").first.fill("find the year")
    await reader.page.get_by_role("button", name="Run the edited plan").click()

    await expect(reader.page.get_by_role("alert")).to_contain_text("The plan has changed")
    written = reader.page.get_by_label("What it is to find out").first
    assert await written.input_value() == "find the year"
    assert tools.called == []
    await expect(reader.page.get_by_role("link", name="Edit the plan that")).to_be_visible()

    async def away(*_: object) -> None:
        raise ServiceDown("Temporal does not answer")

    with monkeypatch.context() as patched:
        patched.setattr(JobController, "answer", away)
        await reader.page.get_by_role("button", name="Run the edited plan").click()
        await expect(reader.page.get_by_role("alert")).to_contain_text("Temporal does not answer")
    assert await written.input_value() == "find the year"
    await reader.page.get_by_role("button", name="Run the edited plan").click()
    await expect(reader.page.locator("main")).to_contain_text("Your answer was taken")
    reader.complaints.clear()  # the browser reports the statuses 412 and 503
    await engine.holdfast.wait(job_id)
    assert "find the year" in {t.description for t in (await load_plan(engine.db, job_id)).tasks}
