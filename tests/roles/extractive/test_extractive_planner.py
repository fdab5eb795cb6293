"""Tests for the built-in planner and replanner: the structure of the question becomes a valid
plan."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.plans.research_plan import Plan, TaskKind, TaskStatus
from holdfast.models.strategies.job_strategy import ReplanScope
from holdfast.models.tasks.replanner_input import ReplannerTask
from holdfast.planning.plans.plan_continuation import replaced_tasks
from holdfast.planning.plans.plan_validation import PlanRules, plan_faults
from holdfast.planning.plans.search_tool_choice import search_tool
from holdfast.roles.extractive.planning.planner_rules import plan_by_rules
from holdfast.roles.extractive.planning.replanner_rules import replan_by_rules
from holdfast.roles.planning.planner import PLANNER, PlannerTask
from tests.roles.extractive.extractive_samples import READ_TOOL, SEARCH_TOOL, role_answer

BRIDGE = (
    "What government position was held by the woman who portrayed Corliss Archer in the film "
    "Kiss and Tell?"
)
QUESTIONS = (
    BRIDGE,
    "Which magazine was founded first, McCall's or Christianity Today?",
    "Are both Judy Blume and Sarah Caudwell writers?",
    "What do Cheerwine and 7 Up have in common?",
    "When was the office lease signed?",
    "How many litres does the compost bin hold?",
    "Did slugs eat the lettuce?",
    "The son of Maye Musk was born in what year?",
    "lighthouse budget",
    "Wer leitet das Projekt?",
    "東京タワーの高さは?",
    "<JSON_PATH>T9.x</JSON_PATH>",
    "???",
    "",
)
GROUND = PlanRules(tools={SEARCH_TOOL.name: SEARCH_TOOL})


def planned(question: str) -> Plan:
    return plan_by_rules(PlannerTask(question=question, tools=(READ_TOOL, SEARCH_TOOL))).to_plan()


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_gets_a_plan_that_may_run(question: str) -> None:
    assert plan_faults(planned(question), GROUND) == ()


@settings(deadline=None)  # the machine may be busy
@given(st.text(max_size=400))
def test_no_text_breaks_the_planner(question: str) -> None:
    assert plan_faults(planned(question), GROUND) == ()


async def test_the_planner_answers_through_the_model_like_any_other() -> None:
    draft = await role_answer(PLANNER, PlannerTask(question=BRIDGE, tools=(SEARCH_TOOL,)))

    assert draft.tasks[-1].kind is TaskKind.REASONING


def test_a_thing_that_is_described_is_found_before_it_is_asked_about() -> None:
    first, second, last = planned(BRIDGE).tasks

    assert "Corliss Archer" in str(first.inputs[0].value)
    assert second.inputs[0].value == ("<JSON_PATH>T1.woman</JSON_PATH> government position held")
    assert second.expects[0].name == "government_position"
    assert last.depends_on == ("T2",)


def test_two_things_compared_are_searched_side_by_side() -> None:
    one, two, last = planned(QUESTIONS[1]).tasks

    assert one.depends_on == two.depends_on == ()
    assert one.expects[0].description.startswith("date (date) of McCall's:")
    assert last.depends_on == ("T1", "T2")


def test_a_simple_question_is_one_search_and_the_answer() -> None:
    tasks = planned("When was the office lease signed?").tasks

    assert [task.kind for task in tasks] == [TaskKind.TOOL, TaskKind.REASONING]
    assert not tasks[0].expects[1].required


@pytest.mark.parametrize(
    ("question", "head"),
    [
        ("When was it signed?", "date"),
        ("Who leads Lighthouse?", "person"),
        ("Where is Brightwater?", "place"),
        ("How many hosts run Linux?", "hosts"),
        ("In which city is Brightwater?", "city"),
    ],
)
def test_the_answers_type_is_said_in_the_entity(question: str, head: str) -> None:
    assert planned(question).tasks[0].expects[0].description.startswith(head)


def test_the_search_tool_is_told_by_its_parameters_and_name() -> None:
    other = ToolSignature(
        name="web.fetch_and_search",
        input_schema={
            "type": "object",
            "properties": {"url": {"type": "string"}, "q": {"type": "string"}},
            "required": ["url", "q"],
        },
    )

    tool = search_tool((other, READ_TOOL, SEARCH_TOOL))

    assert tool is not None
    assert (tool.name, tool.parameter, tool.limit, tool.most) == (
        "corpus.search",
        "query",
        "limit",
        8,
    )


def test_without_a_search_tool_the_plan_is_the_answer_alone() -> None:
    draft = plan_by_rules(PlannerTask(question="Who leads Lighthouse?", tools=()))

    assert plan_faults(draft.to_plan(), PlanRules(tools={})) == ()


def test_a_huge_question_is_planned_in_bounded_time() -> None:
    assert len(planned("the man who saw Paris and Rome or Oslo, " * 25_000).tasks) < 5


def failing(tasks: Plan, failed: str, feedback: str = "") -> ReplannerTask:
    return ReplannerTask(
        question=BRIDGE if "woman" in str(tasks) else QUESTIONS[1],
        tools=(SEARCH_TOOL,),
        current_plan=tasks.tasks,
        failed_task_id=failed,
        feedback=feedback,
        replaced=replaced_tasks(tasks, failed, ReplanScope.DEPENDENTS),
        used_ids=tuple(task.id for task in tasks.tasks),
    )


@pytest.mark.parametrize("question", [BRIDGE, QUESTIONS[1], QUESTIONS[4]])
def test_every_failure_is_continued_by_a_plan_that_may_run(question: str) -> None:
    whole = planned(question)

    for _ in range(4):
        failed = whole.live[0].id
        task = failing(whole, failed).model_copy(update={"question": question})
        more = replan_by_rules(task).to_plan()
        gone = set(task.replaced)
        kept = {each.id: each for each in whole.live if each.id not in gone}
        ground = PlanRules(tools=GROUND.tools, kept=kept, used_ids=frozenset(whole.by_id))
        assert plan_faults(more, ground) == ()
        old = tuple(
            each.model_copy(update={"status": TaskStatus.SUPERSEDED}) if each.id in gone else each
            for each in whole.tasks
        )
        whole = Plan(tasks=old + more.tasks)


def test_a_continuation_repeats_no_search_and_says_when_none_is_left() -> None:
    """Each passage that is found states no value: the closing task fails again and again."""
    question = "Which insurer paid for the roof of Selby Hall?"
    passage = {"telling_passage": "The roof of Selby Hall was mended by Jane Dorrit."}
    whole, queries = planned(question), list[str]()

    for _ in range(6):
        done = tuple(
            each.with_status(TaskStatus.DONE).model_copy(update={"result": passage})
            if each.tool and each.status is TaskStatus.PENDING
            else each
            for each in whole.tasks
        )
        queries += [
            str(each.inputs[0].value)
            for each, before in zip(done, whole.tasks, strict=True)
            if each is not before
        ]
        whole = Plan(tasks=done)
        task = failing(whole, whole.live[-1].id).model_copy(update={"question": question})
        more = replan_by_rules(task)
        gone = set(task.replaced)
        old = (each.superseded() if each.id in gone else each for each in done)
        whole = Plan(tasks=(*old, *more.to_plan().tasks))

    assert len(queries) == len({frozenset(each.split()) for each in queries}) >= 3
    assert any("Jane Dorrit" in each for each in queries)
    assert [each.tool for each in more.tasks] == [""]
    assert "every way" in more.explanation


def test_a_second_search_takes_words_from_what_was_read() -> None:
    feedback = "Read: Kiss. Words worth a new query: Shirley Temple, Corliss. Confidence low."

    more = replan_by_rules(failing(planned(BRIDGE), "T1", feedback))

    assert "Shirley Temple" in str(more.tasks[0].inputs[0].value)
    assert more.tasks[0].id == "T1a"


def test_what_a_finished_task_found_is_used_and_not_searched_again() -> None:
    more = replan_by_rules(failing(planned(BRIDGE), "T2"))

    assert [task.id for task in more.tasks] == ["T2a", "T3a"]
    assert "<JSON_PATH>T1.woman</JSON_PATH>" in str(more.tasks[0].inputs[0].value)
    assert more.tasks[0].depends_on == ["T1"]


@pytest.mark.parametrize(
    ("found", "is_used"), [({"woman": "Imogen Pell"}, True), ({"telling_passage": "She."}, False)]
)
def test_only_a_value_that_was_found_leads_the_next_search(
    found: dict[str, str], is_used: bool
) -> None:
    first, *others = planned(BRIDGE).tasks
    done = first.with_status(TaskStatus.DONE).model_copy(update={"result": found})

    more = replan_by_rules(failing(Plan(tasks=(done, *others)), "T3"))

    assert ("<JSON_PATH>T1.woman</JSON_PATH>" in str(more.tasks[0].inputs[0].value)) is is_used


def test_a_comparison_keeps_the_side_that_did_not_fail() -> None:
    more = replan_by_rules(failing(planned(QUESTIONS[1]), "T1"))

    assert [task.id for task in more.tasks] == ["T1a", "T3a"]
    assert more.tasks[-1].depends_on == ["T1a", "T2"]


def test_a_plan_by_another_model_is_continued_with_one_search() -> None:
    other = Plan(
        tasks=(
            planned(BRIDGE).tasks[0].model_copy(update={"id": "find_actress"}),
            planned(BRIDGE)
            .tasks[-1]
            .model_copy(update={"id": "end", "depends_on": ("find_actress",)}),
        )
    )

    more = replan_by_rules(failing(other, "find_actress"))

    assert [task.kind.value for task in more.tasks] == ["tool", "reasoning"]


@settings(deadline=None)  # the machine may be busy
@given(st.text(max_size=200), st.text(max_size=60), st.text(max_size=200))
def test_no_feedback_breaks_the_replanner(question: str, failed: str, feedback: str) -> None:
    draft = replan_by_rules(
        ReplannerTask(
            question=question,
            tools=(SEARCH_TOOL,),
            current_plan=(),
            failed_task_id=failed,
            feedback=feedback,
            replaced=(failed,),
            used_ids=(failed,),
        )
    )

    assert draft.tasks[-1].expects[0].name == "final_answer"


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("When did Duran Duran form?", "Duran Duran form"),
        ("Who founded Walla Walla?", "founded Walla Walla"),
        ("Who is the mayor of New York, New York?", "mayor New York New York"),
        ("Which mill of Corran did the board of Corran close?", "mill Corran board close"),
    ],
)
def test_a_query_repeats_no_word_but_those_of_a_name(question: str, query: str) -> None:
    assert first_query(question) == query


@pytest.mark.parametrize(
    ("question", "query"),
    [
        (
            "Dear Ruth,\nplease tell me when the lease of Corran ends.\nKind regards, Tom",
            "lease Corran ends",
        ),
        (
            "Dear Ruth, please tell me when the lease of Corran ends. Best wishes, Tom",
            "lease Corran ends",
        ),
        ("Could you please look up who wrote Salt Road? Thanks, Ada", "wrote Salt Road"),
        ("Good morning, I would like to know where the regatta begins.", "regatta begins"),
        ("Dear John, a film of 1953, was directed by whom?", "Dear John film 1953 directed"),
        ("Hello, Dolly! was directed by whom?", "Hello Dolly directed"),
        ("Who sent her best wishes to Ada Marsh?", "sent best wishes Ada Marsh"),
    ],
)
def test_a_letter_is_searched_for_by_its_question_alone(question: str, query: str) -> None:
    assert first_query(question) == query


def first_query(question: str) -> object:
    plan = plan_by_rules(PlannerTask(question=question, tools=(SEARCH_TOOL,)))
    return plan.tasks[0].inputs[0].value
