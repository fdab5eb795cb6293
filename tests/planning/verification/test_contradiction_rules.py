"""Tests for contradictions: known to both sides, and settled by a task that searched elsewhere."""

import pytest

from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.verification.verification_verdicts import (
    Completeness,
    Contradiction,
    Recommendation,
    Verification,
)
from holdfast.planning.verification.contradiction_rules import (
    Settlement,
    distinct_contradictions,
    independent_agents,
    review_contradictions,
    unsettled_contradictions,
)
from holdfast.planning.verification.same_dispute import may_be_same
from holdfast.planning.verification.verdict_and_retry_rules import (
    is_disputed,
    tasks_to_retry,
    verdicts_by_task,
)

COMPLETE, PARTIAL, INCOMPLETE = Completeness
REPAIRS = {"T3": ("T1", "T2")}


def verdict(task_id: str, *against: str, **changes: object) -> Verification:
    found = tuple(
        Contradiction(one=f"{task_id} says", other=f"{other} says", tasks=(task_id, other))
        for other in against
    )
    usual = {
        "task_id": task_id,
        "status": COMPLETE,
        "completeness": 0.9,
        "confidence": 0.9,
        "contradictions": found,
    }
    return Verification.model_validate(usual | changes)


def carried(verdicts: tuple[Verification, ...]) -> list[Verification]:
    return [each.model_copy(update={"is_carried_over": True}) for each in verdicts]


def one_round() -> tuple[Verification, ...]:
    return review_contradictions([verdict("T1", "T2"), verdict("T2")], {}, [], {})


@pytest.mark.conformance("WAVE-08")
def test_a_contradiction_that_one_side_saw_makes_both_wait_for_it_to_be_settled() -> None:
    one, two = one_round()

    assert (one.status, two.status) == (PARTIAL, PARTIAL)
    assert one.completeness == two.completeness == 0.8
    assert two.contradictions[0].one == "T2 says"
    assert is_disputed(one)
    assert is_disputed(two)
    assert tasks_to_retry((one, two)) == ()
    assert [each.tasks for each in unsettled_contradictions((one, two))] == [("T1", "T2")]


@pytest.mark.conformance("WAVE-08")
def test_the_side_that_is_right_is_complete_and_the_other_lacks_what_was_found() -> None:
    before = one_round()
    settled = [Settlement(by="T3", dispute=before[0].contradictions[0], winner="T1")]

    one, two, three = review_contradictions(
        [*carried(before), verdict("T3", "T2")], verdicts_by_task(before), settled, REPAIRS
    )

    assert (one.status, two.status, three.status) == (COMPLETE, PARTIAL, COMPLETE)
    assert {each.settled_by for each in (*one.contradictions, *two.contradictions)} == {"T3"}
    assert two.missing == ("T3 looked elsewhere and found otherwise",)
    assert tasks_to_retry((one, two, three)) == ("T2",)
    assert unsettled_contradictions((one, two, three)) == ()


@pytest.mark.conformance("WAVE-08")
def test_what_agrees_with_neither_side_settles_nothing_and_is_not_tried_twice() -> None:
    before = one_round()

    one, two, three = review_contradictions(
        [*carried(before), verdict("T3")], verdicts_by_task(before), [], REPAIRS
    )

    assert (one.status, two.status, three.status) == (PARTIAL, PARTIAL, COMPLETE)
    assert len(unsettled_contradictions((one, two))) == 1
    assert unsettled_contradictions((one, two), before[0].contradictions) == ()


def test_a_contradiction_is_gone_once_the_other_side_found_something_else() -> None:
    before = one_round()
    one, two = carried(before)[0], verdict("T2", attempt=2)

    first, second = review_contradictions([one, two], verdicts_by_task(before), [], {})

    assert first.contradictions == second.contradictions == ()
    assert (first.status, second.status) == (COMPLETE, COMPLETE)


def test_a_settled_contradiction_stays_settled_when_it_is_seen_again() -> None:
    before = one_round()
    settled = [Settlement(by="T3", dispute=before[0].contradictions[0], winner="T1")]
    second = review_contradictions(
        [*carried(before), verdict("T3")], verdicts_by_task(before), settled, REPAIRS
    )

    third = review_contradictions(
        [*carried(second[:1]), verdict("T2", "T1", attempt=2), *carried(second[2:])],
        verdicts_by_task(second),
        [],
        REPAIRS,
    )

    assert [each.status for each in third] == [COMPLETE] * 3
    assert third[1].contradictions[0].settled_by == "T3"


def test_a_result_that_contradicts_itself_is_disputed_by_nobody_else() -> None:
    own = Contradiction(one="1932", other="1933", tasks=("T1",))

    one, two = review_contradictions(
        [verdict("T1", contradictions=(own,)), verdict("T2")], {}, [], {}
    )

    assert (one.status, two.status) == (PARTIAL, COMPLETE)


def test_an_incomplete_result_stays_as_incomplete_as_it_was() -> None:
    weak = verdict(
        "T1",
        "T2",
        status=INCOMPLETE,
        completeness=0.2,
        missing=("all",),
        recommendation=Recommendation.RETRY,
    )

    one, _ = review_contradictions([weak, verdict("T2")], {}, [], {})

    assert (one.status, one.completeness, one.missing) == (INCOMPLETE, 0.2, ("all",))


@pytest.mark.conformance("WAVE-08")
@pytest.mark.parametrize(
    ("used_agents", "used_tools", "found"),
    [
        ({"rag"}, {"corpus.search"}, ("web", "all")),
        ({"rag", "all"}, {"corpus.search"}, ("web", "all")),
        ({"rag", "web"}, {"corpus.search", "web.search"}, ("tables", "all")),
        ({"all"}, {"corpus.search", "web.search"}, ("rag", "tables", "web")),
        ({"rag", "tables", "web", "all"}, {"corpus.search", "web.search"}, ()),
    ],
)
def test_a_tool_that_neither_side_called_is_elsewhere_and_else_another_agent(
    used_agents: set[str], used_tools: set[str], found: tuple[str, ...]
) -> None:
    agents = [
        AgentBrief(name="rag", description="", tools=("corpus.search",)),
        AgentBrief(name="tables", description="", tools=("corpus.search",)),
        AgentBrief(name="web", description="", tools=("web.search",)),
        AgentBrief(name="all", description="", tools=("corpus.search", "web.search")),
        AgentBrief(name="reasoning", description=""),
    ]

    assert independent_agents(agents, used_agents, used_tools) == found


def test_a_contradiction_that_both_sides_word_differently_is_one() -> None:
    one, two = verdict("T1", "T2"), verdict("T2", "T1")

    (only,) = distinct_contradictions((one, two))

    assert only.one == "T1 says"


HEIGHT = Contradiction(one="the tower is 93 m high", other="the tower has 95 m", tasks=("T1", "T2"))
YEAR = Contradiction(
    one="the tower was finished in 1932", other="it was finished in 1937", tasks=("T1", "T2")
)


def turned(dispute: Contradiction) -> Contradiction:
    return dispute.model_copy(
        update={"one": dispute.other, "other": dispute.one, "tasks": dispute.tasks[::-1]}
    )


def test_two_contradictions_of_one_pair_are_both_kept_and_both_looked_into() -> None:
    one = verdict("T1", contradictions=(HEIGHT, YEAR, turned(YEAR)))
    two = verdict("T2", contradictions=(turned(YEAR),))

    assert distinct_contradictions((one, two)) == (HEIGHT, YEAR)
    assert unsettled_contradictions((one, two)) == (HEIGHT, YEAR)
    assert unsettled_contradictions((one, two), [turned(HEIGHT)]) == (YEAR,)


@pytest.mark.conformance("WAVE-08")
def test_each_claim_is_settled_by_itself_whatever_words_the_other_side_has() -> None:
    other_words = Contradiction(one="1937, says T2", other="T1 says 1932", tasks=("T2", "T1"))
    before = review_contradictions(
        [
            verdict("T1", contradictions=(HEIGHT, YEAR)),
            verdict("T2", contradictions=(other_words,)),
        ],
        {},
        [],
        {},
    )

    one, two, _ = review_contradictions(
        [*carried(before), verdict("T3")],
        verdicts_by_task(before),
        [Settlement(by="T3", dispute=YEAR, winner="T1")],
        REPAIRS,
    )

    assert [each.one for each in before[1].contradictions] == ["1937, says T2", HEIGHT.other]
    assert [each.settled_by for each in one.contradictions] == ["", "T3"]
    assert [each.settled_by for each in two.contradictions] == ["T3", ""]
    assert (one.status, is_disputed(one)) == (PARTIAL, True)
    assert two.missing == ("T3 looked elsewhere and found otherwise",)
    assert [each.one for each in unsettled_contradictions((one, two))] == [HEIGHT.one]


@pytest.mark.conformance("WAVE-08")
def test_a_settled_claim_settles_no_other_claim_of_a_later_round() -> None:
    settled = HEIGHT.model_copy(update={"settled_by": "T3"})
    before = (verdict("T1", contradictions=(settled,)), verdict("T2"))

    one, two = review_contradictions(
        [carried(before)[0], verdict("T2", attempt=2, contradictions=(turned(YEAR),))],
        verdicts_by_task(before),
        [],
        REPAIRS,
    )

    assert [(e.one, e.settled_by) for e in two.contradictions] == [(YEAR.other, "")]
    assert [(e.one, e.settled_by) for e in one.contradictions] == [(YEAR.one, "")]


def dispute(one: str, other: str) -> Contradiction:
    return Contradiction(one=one, other=other, tasks=("T1", "T2"))


@pytest.mark.conformance("WAVE-08")
@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (
            dispute(
                "The tower was finished in 1932",
                "Completion came in 1937 according to the register",
            ),
            dispute("The register says 95 m", "The tower was 93 m high at the time"),
            False,
        ),
        (
            dispute("The tower was finished in 1932", "Completion came in 1937"),
            dispute("The register: 19 March 1932", "Others say 3 May 1937"),
            True,
        ),
        (
            dispute("The architect was Smith", "It is by Jones"),
            dispute("Steel was used", "It is by and large wood"),
            False,
        ),
        (
            dispute("The architect was Smith", "It is by Jones"),
            dispute("Smith built it", "Jones built it in 1932"),
            True,
        ),
        (dispute("It cost 1,200 pounds", "It cost 900"), dispute("1200", "900 pounds"), True),
    ],
)
def test_disputed_numbers_or_telling_words_say_whether_two_contradictions_are_one(
    one: Contradiction, other: Contradiction, is_same: bool
) -> None:
    assert may_be_same(one, other) is may_be_same(other, one) is is_same
