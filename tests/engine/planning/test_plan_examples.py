"""Tests for example plans of earlier questions in the planner's task (HZN-08)."""

from collections.abc import Sequence

import pytest
from sqlalchemy import create_engine, text

from holdfast.activities.plans.planner_examples import (
    MAX_TOKENS_OF_ALL_EXAMPLES,
    MAX_TOKENS_PER_EXAMPLE,
    examples_for,
)
from holdfast.activities.runtime.text_similarity import TextSimilarity
from holdfast.models.corpus.embeddings_config import EmbeddingsConfig
from holdfast.models.corpus.search_criteria import QueryVector
from holdfast.models.plans.plan_drafts import PlanDraft
from holdfast.planning.text.token_estimates import estimate_tokens
from holdfast.roles.extractive.planning.planner_rules import plan_by_rules as plan_by_rules
from holdfast.roles.planning.planner import PLANNER, PlanExample, PlannerTask
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, planner_answer
from tests.support.jobs.earlier_jobs import earlier_request, store_ended_job
from tests.support.jobs.plan_builders import (
    SEARCH,
    TOOLS,
    agent_task,
    final_task,
    lookup_task,
    plan,
)
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

TWO_STEPS = plan(lookup_task("T1", query="first"), final_task("T2", "T1"))
QUESTION = "Who kept the northern tower?"


@pytest.mark.conformance("HZN-08")
async def test_the_planner_sees_the_plan_that_answered_a_similar_question(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = TWO_STEPS, {"first": "a telling find"}
    earlier = await engine.run("Who kept the southern tower?", demonstrations=10)

    shown = await engine.run(QUESTION, demonstrations=10)
    plain = await engine.run(QUESTION)

    assert [job.status for job in (earlier, shown, plain)] == ["done"] * 3
    first, second, third = (task["examples"] for task in players.tasks(PLANNER))
    assert (first, third) == ([], []), "nothing was answered yet; and off by default"
    (example,) = second
    assert example["question"] == "Who kept the southern tower?"
    assert PlanDraft.model_validate(example["plan"]).to_plan() == TWO_STEPS
    assert "telling find" not in str(example)
    assert not {"status", "result"} & set(example["plan"]["tasks"][0])


@pytest.mark.long
async def test_a_planning_that_was_cut_off_goes_on_with_the_examples_it_had(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, database_url: str
) -> None:
    players.plan, tools.answers = TWO_STEPS, {"first": "one"}
    await store_ended_job(engine.db, "before", earlier_request("Who kept a tower?"), TWO_STEPS)
    await store_ended_job(
        engine.db, "late", earlier_request("Who kept the tower?", owner="later"), TWO_STEPS
    )
    turns: list[list[dict[str, str]]] = []

    def invalid_then_busy(given: ReceivedRequest) -> object:
        turns.append(given.turns)
        if len(turns) == 1:
            return ScriptedReply.lax("I would rather not.")
        if len(turns) > 2:
            return planner_answer(TWO_STEPS)
        writer = create_engine(database_url)
        with writer.begin() as connection:
            connection.execute(text("update jobs set owner = '' where id = 'late'"))
        writer.dispose()
        return ScriptedReply(status=503, error={"message": "busy"}, headers={"retry-after": "0"})

    players.parts[PLANNER.name] = invalid_then_busy

    job = await engine.run(QUESTION, demonstrations=10)
    await engine.run("Who kept a tower, then?", demonstrations=10)

    assert job.status == "done"
    assert turns[1] == turns[2], "the answer that came back was not asked for again"
    shown = [len(task["examples"]) for task in players.tasks(PLANNER)]
    assert shown == [1, 1, 1, 3], "and a later job sees what came since"


@pytest.mark.conformance("HZN-08")
@pytest.mark.long
async def test_a_planner_sees_plans_of_the_kind_that_it_makes(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(agent_task("T1", about="Who kept it?", yields="final_answer"))
    earlier = await engine.run("Who kept the southern tower?", preset_name="tdp")
    players.plan = TWO_STEPS
    await engine.run("Who kept the eastern tower?")
    of_tasks = await engine.run(QUESTION, demonstrations=10)
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))
    of_nodes = await engine.run(QUESTION, preset_name="tdp", demonstrations=10)

    assert [each.status for each in (earlier, of_tasks, of_nodes)] == ["done"] * 3
    # Both planners are called `planner`: the third and fourth job are those with examples.
    [of_calls], [of_agents] = (task["examples"] for task in players.tasks(PLANNER)[2:])
    assert of_calls["question"] == "Who kept the eastern tower?"
    assert of_agents["question"] == "Who kept the southern tower?"
    [agent] = of_agents["plan"]["tasks"]
    assert (agent["id"], agent["agent"]) == ("T1", "generalist")


async def test_no_example_is_too_long_or_needs_a_tool_that_is_gone(engine: RunningEngine) -> None:
    long_plan = plan(
        *(lookup_task(f"T{n}", query="x " * 200) for n in range(20)), final_task("T99", "T0")
    )
    gone = plan(lookup_task("T1").model_copy(update={"tool": "lab.gone"}), final_task("T2", "T1"))
    await store_ended_job(engine.db, "long", earlier_request("Who kept the tower?"), long_plan)
    await store_ended_job(engine.db, "gone", earlier_request("Who kept the tower by day?"), gone)
    await store_ended_job(
        engine.db, "good", earlier_request("Who kept the tower by night?"), TWO_STEPS
    )

    found = await examples_for(engine.db, "new", earlier_request(QUESTION, demonstrations=1), TOOLS)

    assert [example.question for example in found] == ["Who kept the tower by night?"]


class Synonyms:
    """Knows that a keeper guards, and nothing else; counts how often it is asked."""

    config = EmbeddingsConfig(model="synonyms", batch_size=8)

    def __init__(self) -> None:
        self.asked = 0

    async def query(self, text: str) -> QueryVector:
        self.asked += 1
        return QueryVector(model="synonyms", values=self._vector(text))

    async def passages(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        self.asked += 1
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> tuple[float, ...]:
        is_of_guards = any(word in text for word in ("guard", "kept"))
        return (1.0, 0.0) if is_of_guards else (0.0, 1.0)


@pytest.mark.conformance("HZN-08")
async def test_examples_are_chosen_by_meaning_where_a_model_tells(engine: RunningEngine) -> None:
    model = Synonyms()
    similarity = TextSimilarity(model)
    earlier = {"near": "Whose guard was it?", "far": "When did the northern tower fall?"}
    asked = (engine.db, "new", earlier_request(QUESTION, demonstrations=1), TOOLS)

    nothing = await examples_for(*asked, similarity)
    asked_without_jobs = model.asked
    for name, question in earlier.items():
        await store_ended_job(engine.db, name, earlier_request(question), TWO_STEPS)
        hidden = earlier_request("Whose guard were they?", owner="eve")
        await store_ended_job(engine.db, f"hidden-{name}", hidden, TWO_STEPS)
    by_words = await examples_for(*asked)
    by_meaning = await examples_for(*asked, similarity)

    assert (nothing, asked_without_jobs) == ((), 0), "no model is loaded for nothing"
    assert [each.question for each in by_words] == [earlier["far"]]
    assert [each.question for each in by_meaning] == [earlier["near"]]


async def test_all_examples_together_stay_within_their_tokens(engine: RunningEngine) -> None:
    size = MAX_TOKENS_PER_EXAMPLE - 600
    for n in range(10):
        wordy = plan(lookup_task("T1", query="word " * size), final_task("T2", "T1"))
        await store_ended_job(engine.db, f"j{n}", earlier_request(f"Who kept tower {n}?"), wordy)

    found = await examples_for(
        engine.db, "new", earlier_request(QUESTION, demonstrations=10), TOOLS
    )

    sizes = [estimate_tokens(example.model_dump_json()) for example in found]
    assert 0 < max(sizes) <= MAX_TOKENS_PER_EXAMPLE
    assert (
        MAX_TOKENS_OF_ALL_EXAMPLES - MAX_TOKENS_PER_EXAMPLE
        < sum(sizes)
        <= MAX_TOKENS_OF_ALL_EXAMPLES
    )


def test_the_rules_take_no_notice_of_examples() -> None:
    example = PlanExample.of("Who kept a tower?", TWO_STEPS)
    task = PlannerTask(question=QUESTION, tools=(SEARCH,))

    shown = task.model_copy(update={"examples": (example,)})

    assert plan_by_rules(shown) == plan_by_rules(task)
