"""Tests for the built-in model as an agent: it plans the steps of an agent task, takes them, and
assesses them."""

import pytest
from pydantic import JsonValue

from holdfast.models.plans.plan_drafts import DraftNode
from holdfast.models.plans.research_plan import (
    FINAL_ANSWER,
    FINDINGS_ENTITY,
    ExpectedEntity,
    Plan,
    Task,
    TaskKind,
    TaskStatus,
)
from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.tasks.agent_role_task import AgentRoleTask, TraceStep
from holdfast.models.tasks.named_value import NamedValue
from holdfast.models.tasks.replanner_input import ReplannerTask
from holdfast.models.text.reference_marks import referenced_paths, replace_references
from holdfast.planning.plans.plan_revision import RevisionProposal, revision_faults
from holdfast.planning.plans.plan_validation import PlanRules
from holdfast.roles.agents.assessor import ASSESSOR
from holdfast.roles.agents.stepper import DraftCall, StepperAnswer
from holdfast.roles.extractive.agents.step_planner_rules import plan_steps
from holdfast.roles.extractive.agents.step_replanner_rules import replan_steps
from holdfast.roles.extractive.agents.stepper_rules import next_step
from holdfast.roles.extractive.extraction.extractor_rules import extract
from holdfast.roles.extractive.planning.agent_plan_rules import plan_agent_tasks, replan_agent_tasks
from holdfast.roles.planning.agent_steps_planner import OBJECTIVES, REPAIRER, STEP_PLANNER
from holdfast.roles.planning.planner import AGENT_TASK_PLANNER, PlannerTask
from holdfast.roles.planning.reviser import REVISER, FailedAgentTask, ReviserTask
from holdfast.roles.tasks.extractor import ExtractorTask, Fragment
from tests.roles.extractive.extractive_samples import (
    GARDEN,
    KICKOFF,
    KISS,
    LEASE,
    SEARCH_TOOL,
    TEMPLE,
    role_answer,
)

BRIDGE = (
    "What government position was held by the woman who portrayed Corliss Archer in the film "
    "Kiss and Tell?"
)
CHOICE = "Which magazine was founded first, McCall's or Christianity Today?"
QUESTIONS = (BRIDGE, CHOICE, "When was the office lease signed?", "Did slugs eat it?", "???", "")
AGENTS = (
    AgentBrief(name="rag", description="documents", tools=("corpus.search",)),
    AgentBrief(name="reasoning", description="thinks"),
    AgentBrief(name="generalist", description="all", tools=("corpus.search",)),
)
FINAL = (ExpectedEntity(name=FINAL_ANSWER),)
WOMAN = (ExpectedEntity(name="woman", description="woman: woman who portrayed Corliss Archer"),)


def node(text: str, expects: tuple[ExpectedEntity, ...] = FINAL, **told: object) -> AgentRoleTask:
    return AgentRoleTask.model_validate(
        {"node": "T3", "specification": text, "expects": expects, "tools": (SEARCH_TOOL,), **told}
    )


def observed(
    call: DraftCall, at: int, notes: tuple[Fragment, ...], known: dict[str, JsonValue]
) -> TraceStep:
    """What the engine would note of a call: the extractor's entities, or a failure."""

    def put(text: str) -> str:
        return replace_references(text, lambda path: str(known[path]))

    arguments: dict[str, JsonValue] = {each.name: put(str(each.value)) for each in call.inputs}
    answer = extract(
        ExtractorTask(
            description=call.description,
            arguments=arguments,
            response=notes,
            entities=tuple(ExpectedEntity(**each.model_dump()) for each in call.expects),
        )
    )
    found = {e.name: e.value for e in answer.entities if (e.confidence or 0.0) >= 0.7}
    is_there = all(each.name in found for each in call.expects if each.required)
    name = f"T3.{at}"
    known.update({f"{name}.{each}": value for each, value in found.items()})
    return TraceStep(
        id=name,
        action=f"corpus.search {arguments}",
        status="done" if is_there else "failed",
        found=found if is_there else {},
        failure="" if is_there else answer.summary,
    )


def worked(question: str, *notes: Fragment) -> tuple[StepperAnswer, tuple[TraceStep, ...]]:
    """The agent's end, and its trace, when all that it finds are these notes."""
    trace: tuple[TraceStep, ...] = ()
    known: dict[str, JsonValue] = {}
    for _ in range(20):
        answer = next_step(node(question, trace=trace))
        if not answer.calls:
            return answer, trace
        for call in answer.calls:
            trace = (*trace, observed(call, len(trace) + 1, notes, known))
    pytest.fail("the agent does not come to an end")


async def test_a_described_thing_is_a_sub_question_of_its_own() -> None:
    draft = await role_answer(
        AGENT_TASK_PLANNER, PlannerTask(question=BRIDGE, tools=(SEARCH_TOOL,), agents=AGENTS)
    )

    first, second, last = draft.to_plan().tasks
    assert first.description == (
        "Find the woman who portrayed Corliss Archer in the film Kiss and Tell"
    )
    assert [each.agent for each in (first, second, last)] == ["rag", "rag", "reasoning"]
    assert (second.depends_on, last.depends_on) == (("T1",), ("T2",))
    assert last.is_final
    assert all(each.kind is TaskKind.AGENT for each in draft.to_plan().tasks)


def test_a_report_needs_no_sub_question_that_only_concludes() -> None:
    task = PlannerTask(question=CHOICE, tools=(SEARCH_TOOL,), agents=AGENTS, concludes=False)

    nodes = plan_agent_tasks(task).to_plan().tasks

    assert len(nodes) == 2
    assert not any(each.is_final for each in nodes)
    assert "McCall's" in nodes[0].description
    assert "Christianity Today" in nodes[1].description


def test_without_an_agent_for_documents_the_one_with_the_search_goes() -> None:
    task = PlannerTask(question=BRIDGE, tools=(SEARCH_TOOL,), agents=AGENTS[1:])

    assert plan_agent_tasks(task).tasks[0].agent == "generalist"


@pytest.mark.parametrize("question", QUESTIONS)
async def test_the_steps_of_every_sub_question_may_run(question: str) -> None:
    draft = await role_answer(STEP_PLANNER, node(question))

    steps = draft.to_plan().tasks
    assert [each.id for each in steps] == [f"T3.{at}" for at in range(1, len(steps) + 1)]
    assert [each.name for each in steps[-1].expects] == [FINAL_ANSWER]
    named = {tag for each in steps for i in each.inputs for tag in referenced_paths(str(i.value))}
    assert {each.rpartition(".")[0] for each in named} <= {each.id for each in steps}


def test_one_search_keeps_the_promise_of_one_value() -> None:
    (only,) = plan_steps(node("Find the woman who portrayed Corliss Archer", WOMAN)).tasks

    assert only.tool == SEARCH_TOOL.name
    assert [(each.name, each.type.value) for each in only.expects] == [("woman", "string")]


def test_what_a_dependency_found_goes_into_the_query() -> None:
    given = (NamedValue(name="T1.woman", value="Shirley Temple"),)
    position = (
        ExpectedEntity(name="government_position", description="government position: held by"),
    )

    (only,) = plan_steps(node(BRIDGE, position, given=given)).tasks

    assert only.inputs[0].value == "Shirley Temple government position held"
    assert "Shirley Temple" in only.expects[0].description


def test_an_agent_without_tools_concludes_from_what_is_given() -> None:
    given = (NamedValue(name="T2.government_position", value="Chief of Protocol"),)
    task = node(BRIDGE, given=given, tools=())

    (only,) = plan_steps(task).tasks
    answer = next_step(task)

    assert only.kind is TaskKind.REASONING
    assert only.inputs[0].value == "Chief of Protocol"
    assert answer.outputs[0].value == "Chief of Protocol"


def test_an_account_is_a_passage() -> None:
    (only,) = plan_steps(node("When was the office lease signed?", (FINDINGS_ENTITY,))).tasks

    assert only.expects[0].name == FINDINGS_ENTITY.name
    assert only.expects[0].description.startswith("passage: ")


def test_two_hops_are_worked_one_after_the_other() -> None:
    question = "When was the woman who portrayed Corliss Archer in the film Kiss and Tell born?"

    answer, trace = worked(question, KISS, TEMPLE, LEASE, GARDEN)

    assert len(trace) == 2
    assert trace[0].found["woman"] == "Shirley Temple"
    assert "Shirley Temple" in trace[1].action
    assert answer.outputs[0].value == "<JSON_PATH>T3.2.date</JSON_PATH>"


def test_what_is_nowhere_is_asked_for_in_three_ways_and_given_up() -> None:
    answer, trace = worked("When was the Lighthouse project approved?", GARDEN)

    assert answer.give_up
    assert len({step.action for step in trace}) == len(trace) == 3


def test_an_agent_that_must_end_makes_no_call() -> None:
    answer = next_step(node(BRIDGE, must_end="12 calls were made"))

    assert not answer.calls
    assert "12 calls" in answer.give_up


def test_an_agent_that_must_end_gives_what_it_found() -> None:
    step = TraceStep(id="T3.1", action="corpus.search", status="done", found={"woman": "Ada"})
    task = node("Find the woman", WOMAN, trace=(step,), must_end="12 calls were made")

    assert next_step(task).outputs[0].value == "<JSON_PATH>T3.1.woman</JSON_PATH>"


async def test_objectives_are_two_to_five_states_of_knowledge() -> None:
    for role in (OBJECTIVES, REPAIRER):
        stated = await role_answer(role, node(BRIDGE))

        assert 2 <= len(stated.objectives) <= 5


async def test_the_assessor_gives_what_the_trace_supports_by_reference() -> None:
    step = TraceStep(id="T3.1", action="corpus.search", status="done", found={"woman": "Ada"})

    verdict = await role_answer(ASSESSOR, node("Find the woman", WOMAN, trace=(step,)))

    assert verdict.status == "completed"
    assert verdict.outputs[0].value == "<JSON_PATH>T3.1.woman</JSON_PATH>"


async def test_the_assessor_asks_for_more_until_three_steps_failed() -> None:
    failed = tuple(
        TraceStep(id=f"T3.{at}", action="corpus.search", status="failed") for at in (1, 2, 3)
    )

    early = await role_answer(ASSESSOR, node("Find the woman", WOMAN, trace=failed[:1]))
    late = await role_answer(ASSESSOR, node("Find the woman", WOMAN, trace=failed))

    assert (early.status, late.status) == ("needs_more_steps", "failed")
    assert early.guidance
    assert "woman" in late.deviation


def agent_task(task_id: str, description: str, **fields: object) -> Task:
    content = {"id": task_id, "kind": "agent", "description": description, **fields}
    return Task.model_validate(content)


def revisable(second: str) -> ReviserTask:
    return ReviserTask(
        question=BRIDGE,
        plan=(
            agent_task("T1", BRIDGE, result={"woman": "Shirley Temple"}),
            agent_task("T2", second, depends_on=("T1",)),
        ),
        changeable=("T2",),
    )


async def test_a_found_name_is_written_into_what_rests_on_it_once() -> None:
    revised = await role_answer(REVISER, revisable(BRIDGE))
    again = await role_answer(REVISER, revisable(revised.refine[0].description))

    assert revised.refine[0].description == f"{BRIDGE} (found: Shirley Temple)"
    assert again.refine == []


def replanned(failed: Task, feedback: str, *, used: tuple[str, ...] = ()) -> list[DraftNode]:
    """What the built-in replanner puts in the place of an agent task."""
    task = ReplannerTask(
        tools=(),
        agents=AGENTS,
        question=BRIDGE,
        current_plan=(failed.with_status(TaskStatus.FAILED),),
        failed_task_id=failed.id,
        feedback=feedback,
        replaced=(failed.id,),
        used_ids=(*used, failed.id),
    )
    return replan_agent_tasks(task).tasks


async def test_what_was_tried_in_other_words_and_for_a_passage_is_not_tried_again() -> None:
    planned = plan_agent_tasks(PlannerTask(question=BRIDGE, tools=(), agents=AGENTS)).to_plan()
    more = "Words worth a new query: Harriet."

    in_other_words = replanned(planned.tasks[0], more)[0].to_task()
    for_passage = replanned(in_other_words, more)[0].to_task()
    revised = await role_answer(
        REVISER,
        ReviserTask(
            question=BRIDGE,
            plan=(for_passage.with_status(TaskStatus.FAILED), *planned.tasks[1:]),
            changeable=("T2", "T3"),
            failed=(FailedAgentTask(id=for_passage.id, why=more),),
            agents=AGENTS,
            used_ids=("T1", in_other_words.id, for_passage.id, "T2", "T3"),
        ),
    )

    assert for_passage.expects[0].name == "telling_passage"
    assert replanned(for_passage, more) == []
    assert (revised.add, revised.remove, revised.refine) == ([], [], [])


def test_a_rejected_continuation_is_no_attempt() -> None:
    planned = plan_agent_tasks(PlannerTask(question=BRIDGE, tools=(), agents=AGENTS)).to_plan()
    rejected = ("T1", "T1a", "T1b")

    again = replanned(planned.tasks[0], "nothing", used=rejected)[0].to_task()

    assert again.id == "T1c"
    assert replanned(again, "nothing", used=rejected)


async def test_two_failures_of_a_batch_are_repaired_with_one_conclusion() -> None:
    planned = plan_agent_tasks(PlannerTask(question=CHOICE, tools=(), agents=AGENTS)).to_plan()
    ends = [each.id for each in planned.tasks if each.is_final]
    known = Plan(
        tasks=tuple(
            each if each.is_final else each.with_status(TaskStatus.FAILED) for each in planned.tasks
        )
    )
    lost = tuple(each.id for each in known.tasks if each.status is TaskStatus.FAILED)
    task = ReviserTask(
        question=CHOICE,
        plan=known.tasks,
        changeable=tuple(ends),
        failed=tuple(FailedAgentTask(id=name, why="nothing") for name in lost),
        agents=AGENTS,
        used_ids=(*known.by_id, "T1a"),
    )

    answer = await role_answer(REVISER, task)

    assert {each.id: each.depends_on for each in answer.add} == {
        "T1b": [],
        "T2a": [],
        "T3b": ["T1b", "T2a"],
    }
    assert sorted(answer.remove) == ["T1", "T2", "T3"]
    proposal = RevisionProposal(
        added=tuple(each.to_task() for each in answer.add),
        removed=tuple(answer.remove),
        failed=lost,
    )
    ground = PlanRules(
        tools={}, used_ids=frozenset(task.used_ids), agents=frozenset(each.name for each in AGENTS)
    )
    assert revision_faults(known, proposal, ground) == []


def test_what_a_description_holds_is_searched_with() -> None:
    position = (
        ExpectedEntity(name="government_position", description="government position: held by"),
    )

    (only,) = plan_steps(node(f"{BRIDGE} (found: Shirley Temple)", position)).tasks

    assert only.inputs[0].value == "Shirley Temple government position held"


def failing(question: str, **told: object) -> ReplannerTask:
    return ReplannerTask.model_validate(
        {"question": question, "tools": (SEARCH_TOOL,), "feedback": "", **told}
    )


def test_a_failed_step_is_replaced_within_its_agent() -> None:
    steps = plan_steps(node(BRIDGE)).to_plan().tasks
    statuses = (TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.PENDING)
    listed = tuple(each.with_status(s) for each, s in zip(steps, statuses, strict=True))

    tasks = (
        replan_steps(
            failing(
                BRIDGE,
                current_plan=listed,
                failed_task_id="T3.2",
                replaced=("T3.2", "T3.3"),
                used_ids=("T3.1", "T3.2", "T3.3"),
                expects=FINAL,
            )
        )
        .to_plan()
        .tasks
    )

    assert all(each.id.startswith("T3.") for each in tasks)
    assert not {each.id for each in tasks} & {"T3.1", "T3.2", "T3.3"}
    assert "<JSON_PATH>T3.1.woman</JSON_PATH>" in str(tasks[0].inputs[0].value)
    assert tasks[-1].is_final


def test_a_value_that_was_not_found_is_asked_for_in_other_words() -> None:
    task = failing(
        "Find the landlord of the office",
        feedback="Not found: landlord. Words worth a new query: Harbour Street.",
        current_plan=(
            Task(
                id="T3.1",
                kind=TaskKind.TOOL,
                description="find the landlord",
                tool=SEARCH_TOOL.name,
                status=TaskStatus.FAILED,
            ),
        ),
        failed_task_id="T3.1",
        replaced=("T3.1",),
        used_ids=("T3.1",),
        expects=(ExpectedEntity(name="landlord"),),
    )

    (only,) = replan_steps(task).tasks

    assert only.id == "T3.2"
    assert "Harbour Street" in str(only.inputs[0].value)
    assert [each.name for each in only.expects] == ["landlord"]


def test_a_failed_sub_question_is_put_in_other_words() -> None:
    nodes = (
        plan_agent_tasks(PlannerTask(question=BRIDGE, tools=(SEARCH_TOOL,), agents=AGENTS))
        .to_plan()
        .tasks
    )
    task = failing(
        BRIDGE,
        agents=AGENTS,
        current_plan=nodes,
        failed_task_id="T1",
        feedback="Words worth a new query: Harriet.",
        replaced=("T1", "T2", "T3"),
        used_ids=("T1", "T2", "T3"),
    )

    again = replan_agent_tasks(task).to_plan().tasks

    assert "Harriet" in again[0].description
    assert again[0].description != nodes[0].description
    assert again[-1].is_final
    assert not {each.id for each in again} & {"T1", "T2", "T3"}


def test_words_that_were_worth_a_query_are_searched_with() -> None:
    (only,) = plan_steps(node("Find the landlord (near: Harbour Street)", WOMAN)).tasks

    assert only.inputs[0].value == "landlord Harbour Street"


def test_a_value_is_read_out_of_what_a_tool_gave_as_a_whole() -> None:
    whole = "\n\n".join(note.text for note in (LEASE, GARDEN, KICKOFF, TEMPLE, KISS) * 2)
    step = TraceStep(id="T3.1", action="corpus.search", status="done", found={"date": whole})
    task = node("When was the office lease signed?", trace=(step,))

    (output,) = next_step(task).outputs

    assert output.value == "3 May 2021"


def test_what_two_things_are_compared_by_is_read_out_of_whole_answers() -> None:
    first = "McCall's was a monthly American magazine that was founded in 1873. "
    second = "Christianity Today is a magazine that was founded in 1956 by Billy Graham. "
    given = (
        NamedValue(name="T1.date_of_mccalls", value=first * 15),
        NamedValue(name="T2.date_of_christianity_today", value=second * 15),
    )

    (output,) = next_step(node(CHOICE, given=given, tools=())).outputs

    assert output.value == "McCall's"


def test_a_lease_is_read_in_one_call() -> None:
    answer, trace = worked("When was the office lease signed?", LEASE)

    assert len(trace) == 1
    assert answer.outputs[0].value == "<JSON_PATH>T3.1.date</JSON_PATH>"
