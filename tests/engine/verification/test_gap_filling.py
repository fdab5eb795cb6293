"""Tests for filling gaps: incomplete tasks run again, missing tasks are added, disputed results
are checked elsewhere."""

import pytest
from sqlalchemy import update

from holdfast.models.plans.research_plan import ExpectedEntity, TaskStatus
from holdfast.models.verification.verification_verdicts import Completeness, StopCondition
from holdfast.roles.planning.gap_planner import GAP_PLANNER
from holdfast.roles.verification.verifier import VERIFIER
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.core.tables.question_tables import questions
from holdfast.storage.plans import plan_change_rows
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, verifier_answer
from tests.support.jobs.plan_builders import lookup_task
from tests.support.jobs.running_engine import RunningEngine
from tests.support.jobs.verification_job import (
    VerificationJob,
    store_verification_job,
    verified_agent_task,
)
from tests.support.long_parameters import only_long

pytestmark = pytest.mark.slow

COMPLETE, PARTIAL, INCOMPLETE = Completeness


@pytest.fixture
def engine(scripted_engine: RunningEngine) -> RunningEngine:
    return scripted_engine


def scores(players: ScriptedRoles, given: dict[str, float]) -> None:
    players.parts["verifier"] = lambda asked: verifier_answer(given[asked.task["id"]])


def proposes(
    players: ScriptedRoles, *new: dict[str, object], retries: tuple[str, ...] = ()
) -> None:
    """Have the gap planner answer this, whatever it is asked."""
    players.parts["gap_planner"] = lambda asked: {
        "explanation": "why",
        "retry_sub_questions": [{"id": name} for name in retries],
        "new_sub_questions": list(new),
    }


def new(name: str, **fields: object) -> dict[str, object]:
    usual: dict[str, object] = {
        "id": name,
        "description": f"find {name}",
        "agent": "generalist",
        "expects": [{"name": "value"}],
    }
    return usual | fields


async def verified(
    engine: RunningEngine, players: ScriptedRoles, given: dict[str, float], **settings: object
) -> VerificationJob:
    """A job whose first round found these scores."""
    usual: dict[str, object] = {"ready_threshold": 1.0, "high_confidence": 1.0}
    job = await store_verification_job(
        engine, [verified_agent_task(name) for name in given], **(usual | settings)
    )
    for name in given:
        await job.found(name, quote=f"{name} is so", value=f"{name} is so")
    scores(players, given)
    assert (await job.verify(1)).stop is None
    return job


@pytest.mark.conformance("VMAO-08")
@pytest.mark.parametrize("named", [(), ("T2",), ("T1", "T9")])
@pytest.mark.long
async def test_all_incomplete_are_worked_again_whatever_the_model_names(
    engine: RunningEngine, players: ScriptedRoles, named: tuple[str, ...]
) -> None:
    job = await verified(engine, players, {"T1": 0.9, "T2": 0.45, "T3": 0.3})
    proposes(players, retries=named)

    receipt = await job.fill(1)

    assert [task.id for task in receipt.changed] == ["T2", "T3"]
    assert {task.attempt for task in receipt.changed} == {2}
    assert {task.status for task in receipt.changed} == {TaskStatus.PENDING}
    stored = {each.task.id: (each.task.status, each.attempt) for each in await job.tasks()}
    assert stored == {
        "T1": (TaskStatus.DONE, 1),
        "T2": (TaskStatus.PENDING, 2),
        "T3": (TaskStatus.PENDING, 2),
    }
    assert (await job.task("T2")).task.result == {"value": "T2 is so"}, "what was found is kept"


@pytest.mark.conformance("VMAO-08")
async def test_the_next_attempt_is_told_what_is_missing_and_what_to_do_differently(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await verified(engine, players, {"T1": 0.3})
    proposes(players)
    players.parts["gap_planner"] = lambda asked: {
        "retry_sub_questions": [{"id": "T1", "hint": "try the archive"}],
        "new_sub_questions": [],
    }

    await job.fill(1)

    assert await job.notes("T1") == {"hint": "try the archive", "missing": ["what is missing"]}
    (task,) = players.tasks(GAP_PLANNER)
    assert task["incomplete"] == ["T1"]
    assert task["sub_questions"][0]["missing"] == ["what is missing"]
    assert {each["name"] for each in task["agents"]} >= {"generalist", "web"}
    assert "hint" not in task["sub_questions"][0], "the first attempt had none"


@pytest.mark.conformance("VMAO-08")
async def test_who_gives_hints_is_told_the_hint_that_the_last_attempt_had(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await verified(engine, players, {"T1": 0.3})
    players.parts["gap_planner"] = lambda asked: {
        "retry_sub_questions": [{"id": "T1", "hint": "try the archive"}]
    }
    await job.fill(1)
    await job.found("T1", attempt=2, quote="it may be so", value="it may be so")
    await job.verify(2)

    await job.fill(2)

    assert [each["sub_questions"][0].get("hint") for each in players.tasks(GAP_PLANNER)] == [
        None,
        "try the archive",
    ]


@pytest.mark.conformance("VMAO-08")
async def test_steps_of_the_attempt_before_are_superseded(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(engine, [verified_agent_task("T1")])
    await job.found("T1", step="T1.1", quote="so", value="so")
    scores(players, {"T1": 0.3})
    await job.verify(1)

    receipt = await job.fill(1)

    assert receipt.superseded == ("T1.1",)
    assert (await job.task("T1.1")).task.status is TaskStatus.SUPERSEDED
    assert await job.notes("T1.1") == {"agent_attempt": 1}
    (_, _, revision) = await plan_change_rows.load_plan_changes(engine.db, job.job_id)
    assert (revision.cause, revision.superseded) == ("gaps", ("T1.1",))
    assert [(c.task, c.field, c.old, c.new) for c in revision.changed] == [("T1", "attempt", 1, 2)]


@pytest.mark.conformance("VMAO-08")
@pytest.mark.parametrize(
    ("given", "added"),
    [
        ({"T1": 0.49}, ()),
        ({"T1": 0.5}, ("T8",)),
        only_long({"T1": 0.74}, ("T8",)),
        ({"T1": 0.9, "T2": 0.1, "T3": 0.2}, ()),
    ],
)
async def test_new_sub_questions_come_where_something_is_half_there(
    engine: RunningEngine, players: ScriptedRoles, given: dict[str, float], added: tuple[str, ...]
) -> None:
    job = await verified(engine, players, given)
    proposes(players, new("T8"))

    receipt = await job.fill(1)

    assert tuple(task.id for task in receipt.added) == added
    dropped = [event["sub_questions"] for event in await job.events("gaps.dropped")]
    assert dropped == ([] if added else [["T8"]])
    assert (await plan_change_rows.load_plan_changes(engine.db, job.job_id))[-1].added == added


@pytest.mark.conformance("VMAO-08")
async def test_an_invalid_proposal_goes_back_with_its_faults_and_never_stops_the_retries(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await verified(engine, players, {"T1": 0.6}, plan_tries=1)
    proposes(players, new("T1"), new("T8.1"), new("T9", agent="nobody", depends_on=["T7"]))

    receipt = await job.fill(1)

    sent_back = players.asked["gap_planner"][-1].turns[-1]["content"]
    for fault in (
        "'T1': the id belongs to an earlier task",
        "'T8.1': an id with a dot",
        "'T9': no agent 'nobody'",
        "depends on 'T7', which does not exist",
    ):
        assert fault in sent_back
    assert players.count(GAP_PLANNER) == 2
    assert [task.id for task in receipt.changed] == ["T1"]
    assert receipt.added == ()
    assert len(await job.events("gaps.refused")) == 1


@pytest.mark.conformance("VMAO-08")
async def test_what_never_ran_waits_on_and_what_was_cancelled_waits_again(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    planned = [
        verified_agent_task("T1"),
        verified_agent_task("T2", "T1"),
        verified_agent_task("T3", "T2"),
    ]
    job = await store_verification_job(engine, planned)
    await job.failed("T1")
    async with engine.db.writing() as connection:
        await connection.execute(
            update(tasks).where(tasks.c.id == "T3").values(status=TaskStatus.CANCELLED.value)
        )
    await job.verify(1)

    receipt = await job.fill(1)

    assert [(task.id, task.attempt) for task in receipt.changed] == [("T1", 2), ("T3", 1)]
    assert {(each.task.id, each.task.status, each.attempt) for each in await job.tasks()} == {
        ("T1", TaskStatus.PENDING, 2),
        ("T2", TaskStatus.PENDING, 1),
        ("T3", TaskStatus.PENDING, 1),
    }
    assert (await job.task("T1")).failure is None


async def test_a_call_that_is_made_again_gives_its_place_to_what_it_finds_and_takes_it_back(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(engine, [lookup_task("T1")], max_rounds=5)
    await job.found("T1", quote="so", value="first")
    scores(players, {"T1": 0.6})
    await job.verify(1)

    await job.fill(1)
    between = await job.values("T1")
    await job.failed("T1")
    await job.verify(2)

    assert between == {}
    assert await job.values("T1") == {"value": "first"}
    assert await job.quotes() == {"so"}


async def test_filling_twice_gives_the_receipt_and_changes_nothing(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel
) -> None:
    job = await verified(engine, players, {"T1": 0.6})
    proposes(players, new("T8"))
    first = await job.fill(1)
    asked, before = model.count, await job_queries.events_after(engine.db, job.job_id, 0)

    again = await job.fill(1)

    assert again == first
    assert model.count == asked
    assert await job_queries.events_after(engine.db, job.job_id, 0) == before
    assert (await job_queries.job_counts(engine.db, job.job_id)).rounds.filled == 1


async def test_where_nothing_can_be_done_the_ledger_says_so(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(
        engine, [verified_agent_task("T1"), verified_agent_task("T2", "T1")], ready_threshold=1.0
    )
    await job.found("T1", quote="so", value="so")
    scores(players, {"T1": 0.9})
    await job.verify(1)

    receipt = await job.fill(1)

    assert (receipt.added, receipt.changed, receipt.change_number) == ((), (), 0)
    (line,) = await job.ledger()
    assert (line.fired, line.is_filled) == (StopCondition.NOTHING_LEFT, True)
    assert (
        await job_queries.job_counts(engine.db, job.job_id)
    ).rounds.stop is StopCondition.NOTHING_LEFT


async def test_a_refused_key_halts(engine: RunningEngine, players: ScriptedRoles) -> None:
    job = await verified(engine, players, {"T1": 0.3})
    players.parts["gap_planner"] = lambda asked: ScriptedReply(
        status=401, error={"message": "bad key"}
    )

    receipt = await job.fill(1)

    assert receipt.halt is not None
    assert (await job.task("T1")).attempt == 1


async def disputed(
    engine: RunningEngine, players: ScriptedRoles, *, side: str = "neither", **settings: object
) -> VerificationJob:
    """Two results that contradict each other, both from the documents; a third takes a side."""
    year = (ExpectedEntity(name="year"),)
    planned = [
        verified_agent_task("T1", name="rag", expects=year),
        verified_agent_task("T2", name="rag", expects=year),
    ]
    job = await store_verification_job(engine, planned, max_rounds=5, **settings)
    await job.found("T1", quote="opened in 1932", address="one.md", year=1932)
    await job.found("T2", quote="opened in 1937", address="two.md", year=1937)

    def part(asked: ReceivedRequest) -> object:
        if asked.task["settles"]:
            return verifier_answer(0.9, sides_with=side)
        others = [
            {"claim": f"it is {asked.task['result'][0]['value']}", "against": "not so", "other": o}
            for o in ("T1", "T2")
            if o != asked.task["id"]
        ]
        return verifier_answer(0.9, contradictions=others)

    players.parts["verifier"] = part
    receipt = await job.verify(1)
    assert receipt.stop is None
    return job


@pytest.mark.conformance("WAVE-08", "VMAO-08")
async def test_a_contradiction_becomes_a_query_on_another_source(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await disputed(engine, players)
    answers = [
        new("T3", agent="rag", settles=["T2", "T1"]),
        new("T3", agent="web", settles=["T1", "T2"]),
    ]
    players.parts["gap_planner"] = lambda asked: {
        "retry_sub_questions": [],
        "new_sub_questions": [answers[asked.is_correction]],
    }

    receipt = await job.fill(1)

    (task,) = receipt.added
    assert (task.id, receipt.changed) == ("T3", ())
    refused = players.asked["gap_planner"][-1].turns[-1]["content"]
    assert "agent 'rag' looks where T1 and T2 have looked; take 'web' or" in refused
    (shown,) = players.tasks(GAP_PLANNER)[0]["contradictions"]
    assert (shown["one"], shown["tasks"]) == ("it is 1932", ["T1", "T2"])
    assert "rag" not in shown["elsewhere"]
    notes = await job.notes("T3")
    assert notes["tie_breaker_for"] == ["T1", "T2"]
    assert "one.md, two.md" in str(notes["hint"])


@pytest.mark.conformance("WAVE-08")
async def test_a_contradiction_that_nobody_proposes_to_look_into_is_asked_for(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await disputed(engine, players, plan_tries=1)
    proposes(players)

    receipt = await job.fill(1)

    asked_for = players.asked["gap_planner"][-1].turns[-1]["content"]
    assert "no new sub-question settles the contradiction of T1 and T2" in asked_for
    assert receipt.added == ()
    assert (await job.ledger())[-1].fired is StopCondition.NOTHING_LEFT


@pytest.mark.conformance("WAVE-08")
@pytest.mark.parametrize(
    ("side", "settled", "statuses"),
    [
        ("one", "T3", {"T1": COMPLETE, "T2": PARTIAL, "T3": COMPLETE}),
        only_long("other", "T3", {"T1": PARTIAL, "T2": COMPLETE, "T3": COMPLETE}),
        ("neither", "", {"T1": PARTIAL, "T2": PARTIAL, "T3": COMPLETE}),
    ],
)
async def test_a_contradiction_is_settled_by_a_result_that_agrees_with_one_side(
    engine: RunningEngine,
    players: ScriptedRoles,
    side: str,
    settled: str,
    statuses: dict[str, Completeness],
) -> None:
    job = await disputed(engine, players, side=side)
    proposes(players, new("T3", agent="web", settles=["T1", "T2"]))
    await job.fill(1)
    await job.found("T3", quote="it was so", value=1932)
    players.asked.clear()

    await job.verify(2)

    (task,) = players.tasks(VERIFIER)
    assert task["settles"] == {"one": "it is 1932", "other": "not so"}
    found = await job.verdicts(2)
    assert {name: each.status for name, each in found.items()} == statuses
    assert {c.settled_by for name in ("T1", "T2") for c in found[name].contradictions} == {settled}


@pytest.mark.conformance("WAVE-08", "VMAO-08")
async def test_each_of_two_contradictions_of_the_same_tasks_has_a_task_and_a_decision_of_its_own(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(
        engine, [verified_agent_task("T1"), verified_agent_task("T2")], max_rounds=5
    )
    await job.found("T1", quote="93 m, of 1932", height=93, year=1932)
    await job.found("T2", quote="95 m, of 1937", height=95, year=1937)
    disputes = [
        {"claim": f"the {what} is {one}", "against": f"the {what} is {other}", "other": "T2"}
        for what, one, other in (("height", 93, 95), ("year", 1932, 1937))
    ]

    def judged(asked: ReceivedRequest) -> object:
        settles = asked.task["settles"]
        if not settles:
            named = disputes if asked.task["id"] == "T1" else []
            return verifier_answer(0.9, contradictions=named)
        sides = {"the height is 93": "one", "the year is 1932": "other"}
        return verifier_answer(0.9, sides_with=sides[settles["one"]])

    players.parts["verifier"] = judged
    await job.verify(1)
    pair = ["T1", "T2"]
    about_year = new(
        "T4", agent="web", settles=pair, description="In which year was the tower finished?"
    )
    about_height = new(
        "T5", agent="web", settles=pair, description="What is the height of the tower?"
    )
    players.parts["gap_planner"] = lambda asked: {
        "new_sub_questions": [about_year, about_height][: 1 + asked.is_correction]
    }

    filled = await job.fill(1)
    refused = players.asked["gap_planner"][-1].turns[-1]["content"]
    for each in filled.added:
        await job.found(each.id, quote="it was so", value=1)
    await job.verify(2)

    assert "contradiction of T1 and T2: 'the height is 93' against" in refused
    assert (await job.notes("T5"))["tie_breaker_claims"] == ["the height is 93", "the height is 95"]
    found = await job.verdicts(2)
    settled = [[c.settled_by for c in found[name].contradictions] for name in pair]
    assert settled == [["T5", "T4"]] * 2
    assert all(found[name].missing for name in pair)


@pytest.mark.conformance("WAVE-08")
async def test_a_contradiction_is_looked_into_once_and_then_told_from_both_sides(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await disputed(engine, players, side="neither")
    proposes(players, new("T3", agent="web", settles=["T1", "T2"]))
    await job.fill(1)
    await job.found("T3", quote="it was so", value=1950)
    await job.verify(2)
    proposes(players, new("T4", agent="web", settles=["T1", "T2"]))

    receipt = await job.fill(2)

    assert (receipt.added, receipt.changed) == ((), ())
    assert players.tasks(GAP_PLANNER)[-1]["contradictions"] == []
    assert [event["sub_questions"] for event in await job.events("gaps.dropped")] == [["T4"]]
    assert (await job.ledger())[-1].fired is StopCondition.NOTHING_LEFT
    (still,) = (await job.verdicts(2))["T1"].contradictions
    assert (still.tasks, still.settled_by) == (("T1", "T2"), "")


@pytest.mark.conformance("VMAO-06", "VMAO-07", "VMAO-08", "WAVE-08")
async def test_the_built_in_model_finds_a_contradiction_and_has_it_settled(
    engine: RunningEngine,
) -> None:
    year = (ExpectedEntity(name="year", description="when the bridge opened"),)
    planned = [
        verified_agent_task("T1", name="rag", expects=year),
        verified_agent_task("T2", name="rag", expects=year),
    ]
    job = await store_verification_job(engine, planned, model="extractive", max_rounds=5)
    for name, value in (("T1", 1932), ("T2", 1937)):
        await job.found(name, quote=f"opened in {value}", year=value)
    first = await job.verify(1)
    filled = await job.fill(1)
    (repair,) = filled.added
    await job.found(repair.id, quote="opened in 1932", year=1932)

    await job.verify(2)

    assert (first.stop, repair.id, filled.changed) == (None, "T3", ())
    assert (await job.task("T3")).task.agent != "rag"
    found = await job.verdicts(2)
    assert [each.status for each in found.values()] == [COMPLETE, PARTIAL, COMPLETE]
    assert found["T2"].contradictions[0].settled_by == "T3"
    assert found["T2"].missing == ("T3 looked elsewhere and found otherwise",)
    again = await job.fill(2)
    assert [(task.id, task.attempt) for task in again.changed] == [("T2", 2)]


async def ruled(job: VerificationJob, answer: str) -> None:
    """A person answered the verifier's question."""
    async with job.db.writing() as connection:
        await connection.execute(
            update(questions).values(status="answered", answer=answer, origin="user")
        )


@pytest.mark.conformance("VMAO-06")
@pytest.mark.parametrize(
    ("answer", "attempt", "hint"),
    [
        ("accept", 1, None),
        only_long("retry", 2, "the model's"),
        ("ask the harbour", 2, "ask the harbour"),
    ],
)
async def test_a_person_decides_what_the_verifier_escalated(
    engine: RunningEngine, players: ScriptedRoles, answer: str, attempt: int, hint: str | None
) -> None:
    job = await store_verification_job(
        engine, [verified_agent_task("T1"), verified_agent_task("T2")], max_rounds=5
    )
    for name in ("T1", "T2"):
        await job.found(name, quote="so", value="so")
    players.parts["verifier"] = lambda asked: verifier_answer(
        0.3, recommendation="escalate" if asked.task["id"] == "T1" else "retry"
    )
    players.parts["gap_planner"] = lambda asked: {
        "retry_sub_questions": [{"id": "T1", "hint": "the model's"}],
        "new_sub_questions": [],
    }
    await job.verify(1)
    await ruled(job, answer)

    await job.fill(1)
    players.asked.clear()
    await job.verify(2)

    assert (await job.task("T1")).attempt == attempt
    assert (await job.notes("T1")).get("hint") == hint
    found = (await job.verdicts(2))["T1"]
    assert found.status is (COMPLETE if answer == "accept" else INCOMPLETE)
