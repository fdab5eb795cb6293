"""Tests for verification rounds: which results are verified, which attempt counts, and what is
stored."""

import asyncio

import pytest

from holdfast.models.errors import Overtaken
from holdfast.models.jobs.job_state import PlanReceipt, VerificationRoundReceipt
from holdfast.models.plans.research_plan import ExpectedEntity, TaskStatus
from holdfast.models.verification.verification_verdicts import (
    Completeness,
    Recommendation,
    StopCondition,
)
from holdfast.roles.verification.verifier import VERIFIER
from holdfast.storage.jobs import job_rows
from holdfast.storage.jobs.job_control_rows import accept_guidance, propose_guidance
from holdfast.storage.ledger.spending_queries import tokens_of
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, verifier_answer
from tests.support.jobs.running_engine import RunningEngine
from tests.support.jobs.verification_job import (
    VerificationJob,
    store_verification_job,
    verified_agent_task,
)

pytestmark = pytest.mark.slow

COMPLETE, PARTIAL, INCOMPLETE = Completeness
FIRST = {"T1": 0.90, "T2": 0.45, "T3": 0.85, "T4": 0.30, "T5": 0.25}


@pytest.fixture
def engine(scripted_engine: RunningEngine) -> RunningEngine:
    return scripted_engine


def scores(players: ScriptedRoles, given: dict[str, float]) -> None:
    """Have the verifier give these scores, by sub-question."""
    players.parts["verifier"] = lambda asked: verifier_answer(given[asked.task["id"]])


def asked_about(players: ScriptedRoles) -> list[str]:
    return sorted(task["id"] for task in players.tasks(VERIFIER))


async def five(engine: RunningEngine, **settings: object) -> VerificationJob:
    job = await store_verification_job(
        engine, [verified_agent_task(name) for name in FIRST], **settings
    )
    for name in FIRST:
        await job.found(name, quote=f"the value of {name}", value=f"{name} is so")
    return job


async def next_attempt(job: VerificationJob, *names: str, **values: object) -> None:
    """The gaps are filled, and these sub-questions ran again."""
    await job.fill(len(await job.ledger()))
    for name in names:
        await job.found(name, attempt=2, quote=f"again {name}", **values)


@pytest.mark.conformance("VMAO-06")
async def test_every_result_gets_a_verdict_with_all_that_vmao_names(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(
        engine,
        [
            verified_agent_task(
                "T1",
                criteria="the year",
                description="When did it open?",
                expects=(ExpectedEntity(name="year", required=False),),
            ),
            verified_agent_task("T2", "T1"),
        ],
        question="How old is the bridge?",
    )
    await job.found("T1", quote="opened in 1932", value=1932)
    await job.found("T2", step="T2.1", quote="90 years", value="about 90 years")
    players.parts["verifier"] = lambda asked: ScriptedReply.lax(
        {
            "verification_status": "partial",
            "completeness_score": 0.6,
            "missing_aspects": ["month"],
            "contradictions": ["it also says 1931"],
            "confidence": 0.7,
            "recommendation": "retry",
        }
    )

    await job.verify(1)

    first, second = sorted(players.tasks(VERIFIER), key=lambda task: task["id"])
    assert (first["sub_question"], first["criteria"]) == ("When did it open?", "the year")
    assert first["question"] == "How old is the bridge?"
    (promised,) = first["expects"]
    assert (promised["name"], promised.get("required", True)) == ("year", False)
    assert [each["name"] for each in second["expects"]] == ["value"]
    assert first["result"][0]["value"] == 1932
    (quote,) = first["evidence"]
    assert (quote["quote"], quote["title"], quote["address"]) == ("opened in 1932", "a.md", "a.md")
    assert quote["read_at"]
    assert second["evidence"][0]["quote"] == "90 years", "what a step found is the agent's"
    assert second["depends_on"] == ["T1"]
    assert [each["id"] for each in second["others"]] == ["T1"]
    assert [each["id"] for each in first["others"]] == ["T2"]
    found = (await job.verdicts(1))["T1"]
    assert (found.status, found.completeness, found.confidence) == (PARTIAL, 0.6, 0.7)
    assert found.missing == ("month",)
    assert found.contradictions[0].one == "it also says 1931"
    assert (found.recommendation, found.model) == (Recommendation.RETRY, "scripted")
    for criterion in ("Completeness", "Evidence", "Sources", "Specificity", "Contradictions"):
        assert f"{criterion}:" in VERIFIER.instructions


@pytest.mark.conformance("VMAO-07", "VMAO-09")
async def test_the_figure_of_vmao_asks_five_times_and_then_of_the_rest_alone(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await five(engine)
    scores(players, FIRST)
    first = await job.verify(1)
    players.parts["gap_planner"] = lambda asked: {
        "retry_sub_questions": [{"id": name} for name in ("T2", "T4", "T5")],
        "new_sub_questions": [
            {"id": name, "description": about, "agent": "generalist"}
            for name, about in (("T6", "external factors"), ("T7", "correlation analysis"))
        ],
    }
    await next_attempt(job, "T2", "T4", "T5", value="better")
    for name in ("T6", "T7"):
        await job.found(name, findings="found")
    players.asked.clear()
    second_scores = {"T2": 0.45, "T4": 0.75, "T5": 0.80, "T6": 0.80, "T7": 0.85}
    scores(players, second_scores)

    second = await job.verify(2)

    assert (first.stop, second.stop) == (None, StopCondition.READY)
    assert asked_about(players) == ["T2", "T4", "T5", "T6", "T7"]
    found = await job.verdicts(2)
    assert [round(each.completeness, 2) for each in found.values()] == [
        0.90,
        0.45,
        0.85,
        0.75,
        0.80,
        0.80,
        0.85,
    ]
    assert {name for name, each in found.items() if each.is_carried_over} == {"T1", "T3"}
    shares = [line.conditions[0].seen for line in await job.ledger()]
    assert shares == [
        "2 of 5 complete (40.0%), wanted 80.0%",
        "6 of 7 complete (85.7%), wanted 80.0%",
    ]


@pytest.mark.conformance("VMAO-09")
async def test_the_token_budget_counts_what_was_sent_and_what_was_answered(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await five(engine, token_budget=1)
    scores(players, FIRST)

    assert (await job.verify(1)).stop is StopCondition.TOKENS

    async with engine.db.reading() as connection:
        spent = await tokens_of(connection, job.job_id)
    assert min(spent.input, spent.output) > 1
    (line,) = await job.ledger()
    assert line.tokens == spent.input + spent.output
    assert line.conditions[3].seen.startswith(f"{line.tokens:,} tokens spent of 1")


@pytest.mark.conformance("VMAO-06")
async def test_what_failed_or_never_ran_is_incomplete_and_nobody_is_asked(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(
        engine,
        [verified_agent_task("T1"), verified_agent_task("T2", "T1"), verified_agent_task("T3")],
    )
    await job.failed("T1", "no page says it")
    await job.found("T3", value="x", quote="x")

    await job.verify(1)

    assert asked_about(players) == ["T3"]
    found = await job.verdicts(1)
    assert [each.status for each in found.values()] == [INCOMPLETE, INCOMPLETE, COMPLETE]
    assert found["T1"].missing == ("no page says it", "value")
    assert found["T2"].missing == ("it never ran", "value")


@pytest.mark.conformance("VMAO-12")
async def test_another_model_verifies_where_one_is_named(
    engine: RunningEngine, model: ScriptedModel, players: ScriptedRoles
) -> None:
    job = await store_verification_job(
        engine, [verified_agent_task("T1")], verifier_model="judge", ready_threshold=1.0
    )
    await job.found("T1", value="x", quote="x")
    scores(players, {"T1": 0.3})

    await job.verify(1)
    await job.fill(1)

    by_role = {call.role: call.name for call in await job_queries.job_calls(engine.db, job.job_id)}
    assert by_role == {"verifier": "judge", "gap_planner": "scripted"}
    assert (await job.verdicts(1))["T1"].model == "judge"


async def test_a_round_that_is_repeated_gives_its_receipt_and_pays_nothing(
    engine: RunningEngine, model: ScriptedModel, players: ScriptedRoles
) -> None:
    job = await five(engine)
    scores(players, FIRST)
    first = await job.verify(1)
    asked, before = model.count, await job_queries.events_after(engine.db, job.job_id, 0)

    again = await job.verify(1)

    assert again == first
    assert first.tokens > 0
    assert model.count == asked
    assert await job_queries.events_after(engine.db, job.job_id, 0) == before


@pytest.mark.conformance("VMAO-06")
async def test_all_results_of_a_round_are_judged_in_one_call(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel
) -> None:
    job = await five(engine)
    scores(players, FIRST)

    await job.verify(1)

    (asked,) = [each for each in model.asked if each.plays(VERIFIER)]
    assert [each["id"] for each in asked.task["results"]] == list(FIRST)
    assert "others" not in asked.task
    found = {name: each.completeness for name, each in (await job.verdicts(1)).items()}
    assert found == FIRST


async def test_a_round_without_a_valid_answer_asks_for_each_result_by_itself(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel
) -> None:
    """T4 gets a verdict that contradicts itself: the other verdicts do not suffer from it."""
    job = await five(engine, plan_tries=0)
    odd = {"T4": {"status": "complete", "missing": ["something"]}}
    players.parts["verifier"] = lambda asked: verifier_answer(0.9, **odd.get(asked.task["id"], {}))

    await job.verify(1)

    counts = [len(e.task["results"]) for e in model.asked if e.plays(VERIFIER)]
    assert sorted(counts) == [1, 1, 1, 1, 1, 5]
    found = {name: each.status for name, each in (await job.verdicts(1)).items()}
    assert found == dict.fromkeys(FIRST, COMPLETE) | {"T4": INCOMPLETE}


async def test_a_result_that_is_judged_by_itself_is_compared_with_the_others_of_its_round(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel
) -> None:
    job = await store_verification_job(
        engine, [verified_agent_task("T1"), verified_agent_task("T2", "T1")], plan_tries=0
    )
    for name in ("T1", "T2"):
        await job.found(name, quote=f"the value of {name}", value=f"{name} is so")
    odd = {"T1": {"status": "complete", "missing": ["something"]}}

    def contradicting(asked: ReceivedRequest) -> object:
        others = [shown["id"] for shown in asked.task["others"]]
        claim = {"claim": "one", "against": "other", "other": "".join(others)}
        faults = odd.pop(asked.task["id"], {})  # only of the first call, for both results
        return verifier_answer(0.5, contradictions=[claim]) | faults

    players.parts["verifier"] = contradicting

    receipt = await job.verify(1)

    alone = [e.task for e in model.asked if e.plays(VERIFIER) and len(e.task["results"]) == 1]
    shown = {e["results"][0]["id"]: [o["id"] for o in e.get("others", ())] for e in alone}
    assert shown == {"T1": ["T2"], "T2": ["T1"]}
    found = await job.verdicts(1)
    assert [each.contradictions[0].tasks for each in found.values()] == [("T1", "T2"), ("T2", "T1")]
    async with engine.db.reading() as connection:
        spent = await tokens_of(connection, job.job_id)
    assert receipt.tokens == spent.input + spent.output


async def test_a_round_that_broke_off_asks_only_for_the_verdicts_that_had_not_come_back(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(
        engine, [verified_agent_task(name) for name in FIRST], slots=1
    )
    for name in FIRST:
        await job.found(name, quote="x", value="a long account " * 4_000)
    busy = {"T4": True}

    def stumbling(asked: ReceivedRequest) -> object:
        if busy.pop(asked.task["id"], False):
            return ScriptedReply(status=503, error={"message": "overloaded"})
        return verifier_answer(FIRST[asked.task["id"]])

    players.parts["verifier"] = stumbling
    with pytest.raises(Exception, match="overloaded"):
        await job.verify(1)
    assert await job.ledger() == []
    players.asked.clear()

    receipt = await job.verify(1)

    assert asked_about(players) == ["T4", "T5"]
    assert receipt.stop is None
    assert len(await job.verdicts(1)) == 5


async def say(job: VerificationJob, words: str) -> None:
    """The person who asked steers the job."""
    number = await propose_guidance(job.db, job.job_id, words, "dana")
    order = job.order(1)
    async with job.db.job(order.job_id, order.epoch) as tx:
        await accept_guidance(tx, number)


async def test_the_verifier_judges_by_what_the_person_said_meanwhile(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel
) -> None:
    job = await five(engine)
    scores(players, FIRST)
    await say(job, "Figures of 2023 count alone.")

    await job.verify(1)

    (asked,) = [each for each in model.asked if each.plays(VERIFIER)]
    assert asked.task["guidance"] == ["Figures of 2023 count alone."]


async def test_a_verdict_that_came_back_is_not_paid_again_because_of_later_guidance(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(
        engine, [verified_agent_task(name) for name in FIRST], slots=1
    )
    for name in FIRST:
        await job.found(name, quote="x", value="a long account " * 4_000)
    busy = {"T4": True}

    def stumbling(asked: ReceivedRequest) -> object:
        if busy.pop(asked.task["id"], False):
            return ScriptedReply(status=503, error={"message": "overloaded"})
        return verifier_answer(FIRST[asked.task["id"]])

    players.parts["verifier"] = stumbling
    with pytest.raises(Exception, match="overloaded"):
        await job.verify(1)
    players.asked.clear()
    await say(job, "Figures of 2023 count alone.")

    await job.verify(1)

    assert asked_about(players) == ["T4", "T5"]


async def test_of_a_round_and_a_filling_that_two_workers_do_at_once_one_is_stored(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(
        engine, [verified_agent_task("T1"), verified_agent_task("T2")]
    )
    for name in ("T1", "T2"):
        await job.found(name, value="x", quote="x")
    players.parts["verifier"] = lambda asked: ScriptedReply.of(verifier_answer(0.3), delay=0.3)
    players.parts["gap_planner"] = lambda asked: ScriptedReply.of(
        {"retry_sub_questions": [], "new_sub_questions": []}, delay=0.3
    )

    rounds = await asyncio.gather(job.verify(1), job.verify(1), return_exceptions=True)
    fillings = await asyncio.gather(job.fill(1), job.fill(1), return_exceptions=True)

    assert {type(each) for each in rounds} == {VerificationRoundReceipt, Overtaken}
    assert {type(each) for each in fillings} == {PlanReceipt, Overtaken}
    assert len(await job.ledger()) == 1
    assert {each.attempt for each in await job.tasks()} == {2}


@pytest.mark.conformance("VMAO-08")
async def test_a_worse_attempt_leaves_the_earlier_result_its_score_and_its_quotes(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(engine, [verified_agent_task("T1")], max_rounds=5)
    await job.found("T1", quote="it was 1932", value=1932, place="")
    scores(players, {"T1": 0.6})
    await job.verify(1)
    await next_attempt(job, "T1", value=1999, place="Sydney", more="x")
    scores(players, {"T1": 0.3})

    await job.verify(2)

    assert await job.values("T1") == {"value": 1932, "place": "Sydney", "more": "x"}
    assert await job.kept_attempts("T1") == {1: True, 2: False}
    assert await job.quotes() == {"it was 1932"}
    in_force = (await job.verdicts(2))["T1"]
    assert (in_force.attempt, in_force.completeness) == (1, 0.6)
    own = (await job.events("task.verified"))[-1]
    assert (own["attempt"], own["completeness"], own["kept"]) == (2, 0.3, 1)


@pytest.mark.conformance("VMAO-08")
@pytest.mark.parametrize("score", [0.6, 0.9])
async def test_a_later_attempt_that_is_as_good_takes_the_place_and_holes_are_filled(
    engine: RunningEngine, players: ScriptedRoles, score: float
) -> None:
    job = await store_verification_job(engine, [verified_agent_task("T1")], max_rounds=5)
    await job.found("T1", quote="in Sydney", place="Sydney", value=1931)
    scores(players, {"T1": 0.6})
    await job.verify(1)
    await next_attempt(job, "T1", value=1932, place=None)
    scores(players, {"T1": score})

    await job.verify(2)

    assert await job.values("T1") == {"value": 1932, "place": "Sydney"}
    assert await job.quotes() == {"in Sydney", "again T1"}
    assert (await job.verdicts(2))["T1"].attempt == 2


@pytest.mark.conformance("VMAO-08")
async def test_two_attempts_that_complement_each_other_are_judged_as_one_result(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(engine, [verified_agent_task("T1")], max_rounds=5)
    await job.found(
        "T1", step="T1.1", quote="in 1932", value=1932, findings="The bridge opened in 1932."
    )
    scores(players, {"T1": 0.6})
    await job.verify(1)
    await job.fill(1)
    said = "It stands in Sydney."
    await job.found("T1", attempt=2, step="T1.2", quote="in Sydney", place="Sydney", findings=said)

    def judged(asked: ReceivedRequest) -> object:
        has_both = {"value", "place"} <= {each["name"] for each in asked.task["result"]}
        return verifier_answer(0.9 if has_both else 0.6)

    players.parts["verifier"] = judged

    await job.verify(2)

    shown = players.tasks(VERIFIER)[-1]
    account = f"{said}\nThe bridge opened in 1932."
    found = {"place": "Sydney", "findings": account, "value": 1932}
    assert {each["name"]: each["value"] for each in shown["result"]} == found
    assert [each["quote"] for each in shown["evidence"]] == ["in Sydney", "in 1932"]
    assert (await job.verdicts(2))["T1"].status is COMPLETE
    assert await job.values("T1") == found
    assert await job.quotes() == {"in Sydney", "in 1932"}


@pytest.mark.conformance("VMAO-08")
async def test_quotes_of_the_steps_of_an_attempt_that_was_put_aside_count_no_more(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(engine, [verified_agent_task("T1")], max_rounds=5)
    await job.found("T1", step="T1.1", quote="old words", value=1931)
    scores(players, {"T1": 0.5})
    await job.verify(1)
    await job.fill(1)
    await job.found("T1", attempt=2, step="T1.2", quote="new words", value=1932)
    scores(players, {"T1": 0.9})

    await job.verify(2)

    assert [quote["quote"] for quote in players.tasks(VERIFIER)[-1]["evidence"]] == ["new words"]
    assert await job.quotes() == {"new words"}
    assert (await job.task("T1.1")).task.status is TaskStatus.SUPERSEDED


@pytest.mark.conformance("VMAO-08")
async def test_an_attempt_that_failed_leaves_what_was_found_before(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(engine, [verified_agent_task("T1")], max_rounds=5)
    await job.found("T1", quote="so", value=1)
    scores(players, {"T1": 0.6})
    await job.verify(1)
    await job.fill(1)
    await job.failed("T1")
    players.asked.clear()

    await job.verify(2)

    assert asked_about(players) == []
    assert await job.values("T1") == {"value": 1}
    assert (await job.verdicts(2))["T1"].completeness == 0.6


async def test_a_refused_key_halts_and_the_next_run_may_try_again(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(engine, [verified_agent_task("T1")])
    await job.found("T1", value="x", quote="x")
    players.parts["verifier"] = lambda asked: ScriptedReply(
        status=401, error={"message": "bad key"}
    )

    refused = await job.verify(1)
    repeated = await job.verify(1)
    scores(players, {"T1": 0.9})
    job.epoch = await job_rows.begin_job_run(engine.db, job.job_id, "run-2")
    accepted = await job.verify(1)

    assert refused == repeated
    assert refused.halt is not None
    assert "bad key" in refused.halt.message
    assert (accepted.halt, accepted.stop) == (None, StopCondition.READY)


async def test_a_verifier_that_never_answers_validly_leaves_the_result_incomplete(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(engine, [verified_agent_task("T1")], plan_tries=1)
    await job.found("T1", value="x", quote="x")
    players.parts["verifier"] = lambda asked: verifier_answer(0.9, missing=["something"])

    await job.verify(1)

    found = (await job.verdicts(1))["T1"]
    assert (found.status, found.completeness) == (INCOMPLETE, 0.0)
    assert "one of them is wrong" in found.missing[0]
    assert players.count(VERIFIER) == 2


@pytest.mark.conformance("VMAO-06")
async def test_what_the_verifier_cannot_judge_becomes_a_question(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(engine, [verified_agent_task("T1")])
    await job.found("T1", value="x", quote="x")
    players.parts["verifier"] = lambda asked: verifier_answer(0.6, recommendation="escalate")

    receipt = await job.verify(1)

    (question,) = receipt.questions
    assert (question.kind, question.task_id) == ("escalation", "T1")
    assert question.deadline is not None
    assert (await job_queries.job_counts(engine.db, job.job_id)).questions == (question,)


async def test_nobody_is_asked_where_questions_are_switched_off(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(engine, [verified_agent_task("T1")], questions=False)
    await job.found("T1", value="x", quote="x")
    players.parts["verifier"] = lambda asked: verifier_answer(0.6, recommendation="escalate")

    assert (await job.verify(1)).questions == ()


async def test_no_words_of_results_are_in_what_goes_to_temporal(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(
        engine,
        [verified_agent_task("T1", expects=(ExpectedEntity(name="value"),))],
        ready_threshold=1.0,
    )
    await job.found("T1", quote="SECRET quote", value="SECRET value")
    players.parts["verifier"] = lambda asked: verifier_answer(0.6, missing=["SECRET aspect"])
    players.parts["gap_planner"] = lambda asked: {
        "explanation": "SECRET reason",
        "retry_sub_questions": [{"id": "T1", "hint": "SECRET"}],
        "new_sub_questions": [],
    }

    receipts = (await job.verify(1)).model_dump_json() + (await job.fill(1)).model_dump_json()

    assert "SECRET" not in receipts
