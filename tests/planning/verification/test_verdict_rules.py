"""Tests for which verdict counts, which tasks run again, and how attempts become one result."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.plans.research_plan import ExpectedEntity, Plan, Task, TaskKind, TaskStatus
from holdfast.models.tasks.attempt_results import AttemptEvidence, AttemptResult, EntityValue
from holdfast.models.verification.verification_verdicts import (
    Completeness,
    Contradiction,
    Recommendation,
    Verification,
)
from holdfast.planning.results.attempt_merge import is_evidence_for_kept, merge_attempts
from holdfast.planning.verification.verdict_and_retry_rules import (
    effective_verdict,
    is_carried_over,
    may_add,
    tasks_to_retry,
    verdict_without_model,
    verifiable_tasks,
)
from tests.support.jobs.plan_builders import final_task, lookup_task
from tests.support.jobs.verification_job import verified_agent_task

COMPLETE, PARTIAL, INCOMPLETE = Completeness
DISPUTE = Contradiction(one="a", other="b", tasks=("T1", "T2"))


def verdict(task_id: str = "T1", score: float = 0.9, **changes: object) -> Verification:
    status = COMPLETE if score >= 0.75 else PARTIAL if score >= 0.5 else INCOMPLETE
    usual = {"task_id": task_id, "status": status, "completeness": score, "confidence": score}
    return Verification.model_validate(usual | changes)


def attempt(number: int, **values: object) -> AttemptResult:
    found = tuple(EntityValue(name=name, value=value) for name, value in values.items())
    return AttemptResult(attempt=number, entities=found)


def test_sub_questions_are_the_plans_own_live_tasks_without_the_final_one() -> None:
    step = Task(id="T1.1", kind=TaskKind.TOOL, description="s", parent="T1")
    gone = lookup_task("T3", status=TaskStatus.SUPERSEDED)

    found = verifiable_tasks(
        Plan(
            tasks=(verified_agent_task("T1"), step, lookup_task("T2"), gone, final_task("T4", "T2"))
        )
    )

    assert [task.id for task in found] == ["T1", "T2"]


@pytest.mark.conformance("VMAO-07")
@pytest.mark.parametrize(
    ("last", "status", "attempt", "carried"),
    [
        (verdict(), TaskStatus.DONE, 1, True),
        (verdict(score=0.6), TaskStatus.DONE, 1, False),
        (verdict(), TaskStatus.DONE, 2, False),
        (verdict(), TaskStatus.PENDING, 1, False),
        (None, TaskStatus.DONE, 1, False),
    ],
)
def test_only_what_was_complete_in_this_attempt_is_carried(
    last: Verification | None, status: TaskStatus, attempt: int, carried: bool
) -> None:
    assert is_carried_over(verified_agent_task("T1", status=status), attempt, last) is carried


def test_what_failed_is_incomplete_and_says_why() -> None:
    task = verified_agent_task(
        "T1", status=TaskStatus.FAILED, expects=(ExpectedEntity(name="year"),)
    )

    found = verdict_without_model(task, 2, "no page says it")

    assert (found.status, found.attempt, found.completeness) == (INCOMPLETE, 2, 0.0)
    assert found.missing == ("no page says it", "year")


@pytest.mark.conformance("VMAO-08")
def test_a_worse_attempt_does_not_take_the_place_of_a_better_one() -> None:
    first, worse, same = (
        verdict(score=0.45),
        verdict(score=0.3, attempt=2),
        verdict(score=0.45, attempt=2),
    )

    assert effective_verdict(first, worse).attempt == 1
    assert effective_verdict(first, same).attempt == 2
    assert effective_verdict(None, worse).attempt == 2


@pytest.mark.conformance("VMAO-08")
def test_all_that_is_incomplete_runs_again_whatever_anybody_says() -> None:
    found = [verdict("T1"), verdict("T2", 0.45), verdict("T3", 0.6), verdict("T4", 0.3)]
    accepting = [each.model_copy(update={"recommendation": "accept"}) for each in found]

    assert tasks_to_retry(found) == tasks_to_retry(accepting) == ("T2", "T3", "T4")
    assert tasks_to_retry(found, excused={"T4"}) == ("T2", "T3")


def test_a_result_that_only_waits_for_a_dispute_to_be_settled_does_not_run_again() -> None:
    disputed = verdict(score=0.7, contradictions=(DISPUTE,), recommendation=Recommendation.ACCEPT)
    lacking = disputed.model_copy(update={"missing": ("the month",)})

    assert tasks_to_retry([disputed]) == ()
    assert tasks_to_retry([lacking]) == ("T1",)


@pytest.mark.conformance("VMAO-08")
@pytest.mark.parametrize(
    ("scores", "adds"),
    [
        ((0.49,), False),
        ((0.5,), True),
        ((0.8,), True),
        ((0.81,), False),
        ((0.9, 0.1, 0.2), False),
        ((0.9, 0.6, 0.2), True),
        ((0.90, 0.45, 0.85, 0.30, 0.25), True),  # VMAO's figure: their mean is 0.55
        ((), False),
    ],
)
def test_sub_questions_are_added_from_a_half_to_four_fifths(
    scores: tuple[float, ...], adds: bool
) -> None:
    assert may_add([verdict(f"T{n}", score) for n, score in enumerate(scores)]) is adds


@pytest.mark.conformance("VMAO-08")
def test_holes_of_the_kept_attempt_are_filled_from_the_newest_that_has_the_value() -> None:
    attempts = [
        attempt(1, year=1932, place="", name="old"),
        attempt(2, year=1933, place="Sydney", name=None),
        attempt(3, year=None, place="Perth", extra=[]),
    ]

    found = {
        each.entity.name: (each.entity.value, each.attempt) for each in merge_attempts(1, attempts)
    }

    assert found == {
        "year": (1932, 1),
        "place": ("Perth", 3),
        "name": ("old", 1),
        "extra": ([], 3),
    }


@pytest.mark.conformance("VMAO-08")
def test_accounts_are_joined_with_what_the_other_says_of_something_else() -> None:
    attempts = [
        attempt(1, findings="The bridge opened in 1931. It stands in Sydney, near the harbour."),
        attempt(2, findings="The bridge opened in 1932."),
        attempt(3, findings="Nothing new: it stands in Sydney."),
    ]

    seen = [
        shown(1, "The bridge stands in Sydney, near the harbour; it opened in 1931."),
        shown(3, "Nothing new: it stands in Sydney."),
    ]

    (kept,) = merge_attempts(2, attempts, seen)

    assert kept.entity.value == "The bridge opened in 1932.\nNothing new: it stands in Sydney."
    assert (kept.attempt, kept.others) == (2, (3,))
    (of_first,) = merge_attempts(2, attempts[:2], seen)
    assert str(of_first.entity.value).endswith("\nIt stands in Sydney, near the harbour.")
    joined = AttemptEvidence(id=1, attempt=1, entity="place", value="Sydney", is_of_step=True)
    assert is_evidence_for_kept(joined, 2, [of_first])
    assert not is_evidence_for_kept(joined, 2, [kept])


def shown(number: int, quote: str) -> AttemptEvidence:
    return AttemptEvidence(id=number, attempt=number, entity="findings", quote=quote)


@pytest.mark.conformance("VMAO-08")
@pytest.mark.parametrize(
    ("before", "quotes"),
    [
        ("Nothing was found about the height.", []),
        (
            "Nothing was found about the height.",
            [shown(1, "Nothing was ever found about its height.")],
        ),
        ("It stands in Sydney.", []),
        ("It stands in Sydney.", [shown(2, "It stands in Sydney.")]),
        ("It stands in Sydney.", [shown(1, "The bridge opened in 1931.")]),
    ],
)
def test_what_no_quote_of_its_own_attempt_shows_is_not_joined(
    before: str, quotes: list[AttemptEvidence]
) -> None:
    (kept,) = merge_attempts(2, account_attempts(before), quotes)

    assert (kept.entity.value, kept.entity.confidence) == ("The tower is 93 m tall.", 0.95)
    assert kept.others == ()


def test_a_joined_account_has_the_confidence_of_the_kept_attempt() -> None:
    quotes = [shown(1, "The tower stands in Sydney.")]

    (kept,) = merge_attempts(2, account_attempts("It stands in Sydney."), quotes)

    assert kept.entity.value == "The tower is 93 m tall.\nIt stands in Sydney."
    assert kept.entity.confidence == 0.95


def account_attempts(before: str) -> list[AttemptResult]:
    accounts = ((1, before, 0.2), (2, "The tower is 93 m tall.", 0.95))
    return [
        AttemptResult(
            attempt=number,
            entities=(EntityValue(name="findings", value=account, confidence=sure),),
        )
        for number, account, sure in accounts
    ]


values = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["", None, 1, "x"]), max_size=3)


@given(st.lists(values, min_size=1, max_size=4), st.data())
def test_merging_loses_no_value_and_keeps_those_of_the_kept_attempt(
    given: list[dict[str, object]], data: st.DataObject
) -> None:
    attempts = [attempt(n, **each) for n, each in enumerate(given, start=1)]
    kept = data.draw(st.integers(1, len(given)))

    found = {each.entity.name: each.entity.value for each in merge_attempts(kept, attempts)}

    assert set(found) == {name for each in given for name in each}
    held = {name: value for name, value in given[kept - 1].items() if value not in (None, "")}
    assert held.items() <= found.items()
    filled = {name for each in given for name, value in each.items() if value not in (None, "")}
    assert {name for name in found if found[name] not in (None, "")} == filled


@pytest.mark.parametrize(
    ("seen", "counts"),
    [
        (AttemptEvidence(id=1, attempt=1, entity="year"), True),
        (AttemptEvidence(id=1, attempt=2, entity="year"), False),
        (AttemptEvidence(id=1, attempt=2, entity="place"), True),
        (AttemptEvidence(id=1, attempt=1, entity="opened", is_of_step=True), True),
        (AttemptEvidence(id=1, attempt=2, entity="opened", value=1933, is_of_step=True), False),
        (AttemptEvidence(id=1, attempt=2, entity="city", value="Sydney", is_of_step=True), True),
    ],
)
def test_evidence_supports_only_values_that_count(seen: AttemptEvidence, counts: bool) -> None:
    chosen = merge_attempts(1, [attempt(1, year=1932), attempt(2, year=1933, place="Sydney")])

    assert is_evidence_for_kept(seen, 1, chosen) is counts
