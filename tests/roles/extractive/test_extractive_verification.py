"""Tests for the built-in model as verifier and gap planner."""

import pytest

from holdfast.models.calls.model_requests import Message, ModelRequest
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.tasks.task_finding import QuotedPassage
from holdfast.models.verification.gap_plan_drafts import (
    GapPlannerAnswer,
    GapPlannerTask,
    OpenContradiction,
    VerifiedSubQuestion,
)
from holdfast.models.verification.verification_verdicts import Completeness, Recommendation
from holdfast.models.verification.verifier_messages import (
    DisputedClaims,
    OtherResult,
    ResultToVerify,
    ResultValue,
    VerifierTask,
)
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.roles.extractive.verification.gap_planner_rules import fill_gaps_by_rules
from holdfast.roles.extractive.verification.verifier_rules import verify

COMPLETE, PARTIAL, INCOMPLETE = Completeness
YEAR = ExpectedEntity(name="year", description="when the bridge opened")


def task(
    value: object = 1932,
    quote: str = "",
    *,
    context: tuple[OtherResult, ...] = (),
    others: tuple[OtherResult, ...] = (),
    **fields: object,
) -> VerifierTask:
    quotes = (QuotedPassage(quote=quote, title="a", address="a.md"),) if quote else ()
    result = () if value is None else (value_of("year", value),)
    usual: dict[str, object] = {
        "id": "T1",
        "sub_question": "When?",
        "expects": (YEAR,),
        "result": result,
        "evidence": quotes,
        "depends_on": tuple(each.id for each in context),
    }
    own = ResultToVerify.model_validate(usual | fields)
    return VerifierTask(question="?", results=(own,), others=(*context, *others))


def value_of(name: str, value: object, description: str = YEAR.description) -> ResultValue:
    return ResultValue.model_validate(
        {"name": name, "value": value, "description": description, "confidence": 0.8}
    )


def other(name: str, value: object, *, of: str = "T2") -> OtherResult:
    return OtherResult(id=of, sub_question="?", values=(value_of(name, value),))


@pytest.mark.parametrize(
    ("given", "status", "score", "recommends"),
    [
        (task(quote="It opened in 1,932."), COMPLETE, 0.9, "accept"),
        (task(context=(other("x", 1),)), COMPLETE, 0.9, "accept"),
        (task(), PARTIAL, 0.6, "retry"),
        (task(None), INCOMPLETE, 0.0, "retry"),
        (
            task(quote="in 1932", expects=(YEAR, ExpectedEntity(name="place"))),
            PARTIAL,
            0.45,
            "retry",
        ),
    ],
    ids=["quoted", "deduced", "bare", "nothing", "half"],
)
def test_what_has_values_with_passages_is_complete(
    given: VerifierTask, status: Completeness, score: float, recommends: str
) -> None:
    (answer,) = verify(given).verdicts

    assert (answer.status, answer.completeness) == (status, score)
    assert answer.recommendation is Recommendation(recommends)
    assert bool(answer.missing) is (status is not COMPLETE)
    assert answer.confidence == (0.8 if status is not INCOMPLETE else 0.0)


@pytest.mark.parametrize(
    ("name", "value", "contradicts"),
    [("opened", 1937, True), ("year", "in 1932", False), ("year", "1,932", False)],
)
def test_another_value_for_the_same_thing_is_a_contradiction(
    name: str, value: object, contradicts: bool
) -> None:
    (answer,) = verify(task(quote="1932", others=(other(name, value),))).verdicts

    found = [(each.claim, each.against, each.other) for each in answer.contradictions]
    assert found == ([("year is 1932", f"{name} is {value}", "T2")] if contradicts else [])


def test_other_words_for_what_is_meant_are_another_thing() -> None:
    closed = ResultValue(name="year", value=1999, description="when the pier closed")

    (answer,) = verify(
        task(quote="1932", others=(OtherResult(id="T2", sub_question="?", values=(closed,)),))
    ).verdicts

    assert answer.contradictions == []


@pytest.mark.parametrize(("value", "side"), [(1932, "one"), (1937, "other"), (1950, "neither")])
def test_a_look_elsewhere_takes_the_side_whose_claim_names_its_value(value: int, side: str) -> None:
    dispute = DisputedClaims(one="year is 1932", other="year is 1937")

    told = task(value, str(value), settles=dispute, others=(other("year", 1937),))
    (answer,) = verify(told).verdicts

    assert answer.sides_with == side
    assert answer.contradictions == []


async def test_the_model_plays_both_roles_and_leaves_out_nothing_that_is_incomplete() -> None:
    seen = VerifiedSubQuestion(
        id="T2",
        description="When did it open?",
        agent="rag",
        criteria="a year",
        attempts=1,
        status=PARTIAL,
        completeness=0.6,
        missing=("year: when it opened",),
        recommendation=Recommendation.RETRY,
    )
    given = GapPlannerTask(
        question="?",
        sub_questions=(seen, seen.model_copy(update={"id": "T1"})),
        incomplete=("T2",),
        contradictions=(
            OpenContradiction(
                one="year is 1932", other="year is 1937", tasks=("T1", "T2"), elsewhere=("web",)
            ),
        ),
        agents=(AgentBrief(name="rag", description=""), AgentBrief(name="web", description="")),
        may_add=True,
        used_ids=("T1", "T2"),
    )
    turn = Message(role="user", content=given.model_dump_json())

    reply = await ExtractiveModel().complete(
        ModelRequest(model="extractive", role="gap_planner", messages=(turn,))
    )

    answer = GapPlannerAnswer.model_validate_json(reply.text)
    assert answer == fill_gaps_by_rules(given)
    assert [(each.id, each.hint) for each in answer.retry_sub_questions] == [("T2", "")]
    (added,) = answer.new_sub_questions
    assert (added.id, added.agent, added.settles) == ("T3", "web", ["T1", "T2"])
    assert added.to_task().expects[0].name == "year"
