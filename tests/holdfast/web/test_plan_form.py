"""Tests for the form that edits a plan: fields, faults at their fields, and a run without scripts."""

import pytest
from playwright.async_api import Browser, expect

from holdfast.jobs.job_controller import JobController
from holdfast.jobs.written_texts import MAX_TEXT_LENGTH, checked_words
from holdfast.models.errors import BadInput
from holdfast.models.plans.research_plan import EntityType, TaskInput, TaskStatus
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.planning.plans.plan_edits import editable_plan, parse_plan
from holdfast.planning.plans.plan_validation import PlanRules, plan_faults
from holdfast.storage.plans.plan_change_rows import load_plan_changes
from holdfast.storage.plans.task_queries import load_plan
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
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import TOOLS, agent_task, final_task, lookup_task, plan
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
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


def sent(tasks: list[TaskFields]) -> dict[str, str]:
    """The form as a browser sends it: with its own line ends and an empty row at each end."""
    form = {}
    for number, task in enumerate(tasks):
        texts = task.model_dump(exclude={"inputs", "outputs"})
        form |= {f"{number}.{name}": value for name, value in texts.items()}
        for row, each in enumerate((*task.inputs, InputFields())):
            form |= {f"{number}.in{row}.{name}": value for name, value in each}
        for row, each in enumerate((*task.outputs, OutputFields())):
            form |= {f"{number}.out{row}.{name}": value for name, value in each}
    return {name: value.replace("\n", "\r\n") for name, value in form.items()}


def test_a_form_that_nobody_changed_gives_the_plan_that_is_stored() -> None:
    first = STORED.tasks[0]
    whole = plan(first.with_inputs((*first.inputs, LIMIT, ODD)), *STORED.tasks[1:])
    tasks = read_task_fields(sent(fields_of_plan(whole)))

    assert parse_plan(written_plan(tasks, whole)) == editable_plan(whole)


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


def test_an_edited_plan_may_be_longer_than_another_answer() -> None:
    text = "x" * (MAX_TEXT_LENGTH + 1)

    assert checked_words("edit", text) == text
    with pytest.raises(BadInput, match="the limit is 20,000"):
        checked_words("revise", text)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.conformance("WEB-01")
@pytest.mark.conformance("WEB-07")
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "without scripts"])
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
async def test_an_edit_of_a_plan_that_has_changed_runs_nothing_and_is_kept(
    engine: RunningEngine, reader: Reader, players: ScriptedRoles, tools: ScriptedTools
) -> None:
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
    reader.complaints.clear()  # the browser reports the status 412
