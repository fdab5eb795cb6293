"""Tests for sentence checks: each sentence of a report is compared with its cited passages, sent
back, then hedged or dropped."""

from collections.abc import Callable
from typing import Any

import pytest

from holdfast.models.evidence.evidence import CheckSummary, Report
from holdfast.planning.reports.sentence_support import hedged
from holdfast.roles.reports.sentence_corrector import SENTENCE_CORRECTOR
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.verification.sentence_checker import SENTENCE_CHECKER
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.report_job import ReportJob

pytestmark = pytest.mark.slow

OPENED = "Selby Bridge was opened in 1932 by Ada Marsh, and cost 900 pounds."
GOOD = "The bridge was opened in 1932."
T1, T2 = lookup_task("T1"), final_task("T2", "T1")
T3, T4 = lookup_task("T3"), lookup_task("T4")


async def found(press: ReportJob, **settings: object) -> None:
    await press.planned(plan(T1, T2), **settings)
    await press.found(T1, "1932", OPENED)
    await press.found(T2, "1932")


def answer(*findings: str, summary: str = GOOD) -> dict[str, Any]:
    return {
        "summary": [{"text": summary, "evidence": ["E1"]}],
        "findings": [{"text": text, "evidence": ["E1"]} for text in findings],
    }


def writing(players: ScriptedRoles, *versions: dict[str, Any]) -> None:
    """The synthesiser's versions, one after the other; the last one again."""
    left = list(versions)
    players.parts["synthesiser"] = lambda _: left.pop(0) if len(left) > 1 else left[0]


def judging(**verdicts: str) -> Callable[[ReceivedRequest], object]:
    """A checker that judges the sentences that hold a word as said, and supports the others."""

    def part(asked: ReceivedRequest) -> object:
        def judged(text: str) -> str:
            return next((verdicts[word] for word in verdicts if word in text), "supported")

        return {
            "verdicts": [
                {"id": each["id"], "verdict": judged(each["text"]), "why": "the page says less"}
                for each in asked.task["sentences"]
            ]
        }

    return part


def findings(report: Report) -> list[str]:
    return [each.text for each in report.findings]


def correcting(players: ScriptedRoles, *texts: str, evidence: str = "E1") -> None:
    """The corrector's sentences in the order of those that were refused; an empty one is left out."""

    def part(asked: ReceivedRequest) -> object:
        return {
            "sentences": [
                {"id": each["id"], "text": text, "evidence": [evidence] if text else []}
                for each, text in zip(asked.task["sentences"], texts, strict=True)
            ]
        }

    players.parts["sentence_corrector"] = part


@pytest.mark.conformance("REP-04")
async def test_a_refused_sentence_is_repaired_alone(
    press: ReportJob, players: ScriptedRoles
) -> None:
    writing(players, answer("It was opened in 1923.", "It cost 900 pounds."))
    correcting(players, "Ada Marsh opened it [E1].")
    await found(press)

    report = await press.report()

    assert players.count(SYNTHESISER) == 1
    (asked,) = players.tasks(SENTENCE_CORRECTOR)
    assert asked["sentences"] == [
        {
            "id": "S1",
            "text": "It was opened in 1923.",
            "cites": ["E1"],
            "why": "the number 1923 is in no passage that is cited",
        }
    ]
    assert [each["id"] for each in asked["evidence"]] == ["E1"]
    assert findings(report) == ["Ada Marsh opened it.", "It cost 900 pounds."]
    assert report.check_summary == CheckSummary(
        checked=3, judged=3, refused=1, kept=3, checked_by="scripted"
    )


@pytest.mark.conformance("REP-04")
async def test_a_sentence_that_fails_again_is_dropped_and_one_without_text_is_left_out(
    press: ReportJob, players: ScriptedRoles
) -> None:
    writing(players, answer("It was opened in 1923.", "It cost 901 pounds.", "Ada Marsh came."))
    correcting(players, "It was opened in 1924.", "")
    await found(press)

    report = await press.report()

    assert findings(report) == ["Ada Marsh came."]
    assert report.check_summary == CheckSummary(
        checked=3, judged=2, refused=2, kept=2, dropped=1, checked_by="scripted"
    )


async def test_without_a_valid_correction_the_draft_stays_and_loses_what_failed(
    press: ReportJob, players: ScriptedRoles
) -> None:
    writing(players, answer("It was opened in 1923.", "Ada Marsh opened it."))
    correcting(players, "Ada Marsh came in 1932.", evidence="E7")
    await found(press)

    report = await press.report()

    assert "cites 'E7', which is not among the evidence" in str(
        players.asked["sentence_corrector"][1].turns[-1]["content"]
    )
    assert findings(report) == ["Ada Marsh opened it."]


@pytest.mark.conformance("VMAO-11")
@pytest.mark.parametrize(
    "wrong", ["It cost 901 pounds.", "It was opened by Ida Marsh.", "It says “closed in 1932”."]
)
async def test_what_the_passage_does_not_say_is_dropped_and_counted(
    press: ReportJob, players: ScriptedRoles, wrong: str
) -> None:
    writing(players, answer(wrong, "Ada Marsh opened it."))
    await found(press, model="scripted")

    report = await press.report()

    assert (players.count(SYNTHESISER), players.count(SENTENCE_CORRECTOR)) == (1, 1)
    assert findings(report) == ["Ada Marsh opened it."]
    assert report.check_summary == CheckSummary(
        checked=3, judged=2, refused=1, kept=2, dropped=1, checked_by="scripted"
    )


@pytest.mark.conformance("REP-04")
async def test_what_the_checker_calls_partly_supported_is_hedged(
    press: ReportJob, players: ScriptedRoles
) -> None:
    writing(
        players, answer("The bridge was cheap.", "The bridge was loved.", "It cost 900 pounds.")
    )
    players.parts["sentence_checker"] = judging(cheap="partly", loved="unsupported")
    await found(press)

    report = await press.report()

    assert findings(report) == [
        "The bridge was cheap (the sources suggest this, but do not fully state it).",
        "It cost 900 pounds.",
    ]
    assert report.check_summary is not None
    assert (
        report.check_summary.kept,
        report.check_summary.hedged,
        report.check_summary.dropped,
    ) == (2, 1, 1)
    assert players.tasks(SENTENCE_CORRECTOR)[0]["sentences"][0]["why"] == "the page says less"


async def test_all_sentences_are_judged_in_one_call_and_none_of_them_twice(
    press: ReportJob, players: ScriptedRoles
) -> None:
    writing(players, answer("The bridge was cheap.", "It cost 900 pounds and more."))
    correcting(players, "The bridge was dear.")
    players.parts["sentence_checker"] = judging(cheap="unsupported")
    await found(press)

    await press.report()

    asked = [[s["text"] for s in task["sentences"]] for task in players.tasks(SENTENCE_CHECKER)]
    assert asked == [
        [GOOD, "The bridge was cheap.", "It cost 900 pounds and more."],
        ["The bridge was dear."],
    ]
    (passage,) = players.tasks(SENTENCE_CHECKER)[0]["passages"]
    assert passage["text"] == OPENED


@pytest.mark.parametrize("word", ["東", "word ", "line\n"])
async def test_the_checker_sees_what_stands_around_a_quote_in_any_script(
    press: ReportJob, players: ScriptedRoles, word: str
) -> None:
    writing(players, answer("The bridge was cheap."))
    players.parts["sentence_checker"] = judging()
    await press.planned(plan(T1, T2))
    around = word * 1_000
    await press.found(T1, "1932", f"{around}{OPENED}{around}", quote=OPENED)
    await press.found(T2, "1932")

    await press.report()

    (passage,) = players.tasks(SENTENCE_CHECKER)[0]["passages"]
    before, _, after = passage["text"].partition(OPENED)
    assert 600 - len(word) <= len(before) <= 600
    assert 600 - len(word) <= len(after) <= 600
    assert {*before.split(), *after.split()} <= {word.strip(), before, after}


async def test_a_sentence_that_only_quotes_costs_no_judgement(
    press: ReportJob, players: ScriptedRoles
) -> None:
    writing(players, answer(f"“{OPENED}”", summary="Selby Bridge was opened in 1932"))
    await found(press)

    report = await press.report()

    assert players.count(SENTENCE_CHECKER) == 0
    assert report.check_summary == CheckSummary(checked=2, kept=2)


async def test_the_verifiers_model_judges_where_one_is_set(
    press: ReportJob, players: ScriptedRoles, model: ScriptedModel
) -> None:
    writing(players, answer())
    await found(press, verifier_model="strict")

    report = await press.report()

    names = [(asked.body["model"], asked.plays(SYNTHESISER)) for asked in model.asked]
    assert names == [("scripted", True), ("strict", False)]
    assert report.check_summary is not None
    assert (report.check_summary.checked_by, report.model) == ("strict", "scripted")


async def test_what_nobody_could_judge_is_not_told_as_if_it_were_proven(
    press: ReportJob, players: ScriptedRoles
) -> None:
    writing(players, answer())
    players.parts["sentence_checker"] = lambda _: {"verdicts": []}
    await found(press)

    report = await press.report()

    assert [each.text for each in report.summary] == [hedged(GOOD)]


async def test_where_no_summary_is_left_the_report_says_so(
    press: ReportJob, players: ScriptedRoles
) -> None:
    writing(players, answer("It cost 900 pounds.", summary="It was opened in 1923."))
    await found(press)

    report = await press.report()

    assert [each.text for each in report.summary] == [
        "No sentence of the summary was carried by the sources; the rest of the report was."
    ]
    assert report.answer == "1932"


async def test_a_sentence_without_a_citation_may_tell_only_what_is_known(
    press: ReportJob, players: ScriptedRoles
) -> None:
    told = answer()
    told["analysis"] = [
        {"text": "Then Orla Finch came in 1944."},
        {"text": "Of 1932 little is known."},
    ]
    writing(players, told)
    await found(press)

    report = await press.report()

    assert [each.text for each in report.analysis] == ["Of 1932 little is known."]


@pytest.mark.conformance("REP-02")
async def test_a_claim_without_a_citation_is_sent_back_and_dropped(
    press: ReportJob, players: ScriptedRoles
) -> None:
    told = answer()
    told["analysis"] = [
        {"text": "The bridge is a masterpiece of engineering."},
        {"text": "Nothing was read of its later years."},
    ]
    writing(players, told)
    await found(press)

    report = await press.report()

    assert players.tasks(SENTENCE_CORRECTOR)[0]["sentences"] == [
        {
            "id": "S1",
            "text": "The bridge is a masterpiece of engineering.",
            "why": "it claims something and cites no evidence",
        }
    ]
    assert [each.text for each in report.analysis] == ["Nothing was read of its later years."]
    summary = report.check_summary
    assert summary == CheckSummary(
        checked=3, judged=1, refused=1, kept=2, dropped=1, checked_by="scripted"
    )
    assert summary.checked == summary.kept + summary.hedged + summary.dropped


async def test_writing_it_again_after_a_crash_pays_for_nothing_twice(
    press: ReportJob, players: ScriptedRoles, model: ScriptedModel
) -> None:
    writing(players, answer("It was opened in 1923."), answer("Ada Marsh opened it."))
    await found(press)
    first = await press.report()
    # As if the worker had died before its transaction: all calls are in the ledger, nothing else.
    press.execute("delete from receipts where key = 'report'")
    press.execute("delete from reports")
    asked = len(model.asked)

    second = await press.report()

    assert second.model_copy(update={"delivered_at": first.delivered_at}) == first
    assert len(model.asked) == asked


@pytest.mark.conformance("REP-06")
async def test_a_finding_keeps_the_quotes_that_each_show_a_part_of_it_and_no_others(
    press: ReportJob, players: ScriptedRoles
) -> None:
    both = "It was opened in 1932, and 40 boats passed in 1933."
    writing(
        players,
        answer("It cost 900 pounds.")
        | {
            "analysis": [{"text": both, "evidence": ["E1", "E2", "E3"]}],
            "findings": [{"text": "Ada opened it.", "evidence": ["E1"]}],
        },
    )
    idle = {both: ["E2"], "Ada opened it.": ["E1"]}
    players.parts["sentence_checker"] = lambda asked: {
        "verdicts": [
            {"id": each["id"], "verdict": "supported", "idle": idle.get(each["text"], [])}
            for each in asked.task["sentences"]
        ]
    }
    await press.planned(plan(T1, T3, T4, final_task("T2", "T1", "T3", "T4")))
    await press.found(T1, "1932", OPENED)
    await press.found(T3, "red", "The gates are red.")
    await press.found(T4, "40", "In 1933 only 40 boats passed.")
    await press.found(final_task("T2", "T1", "T3", "T4"), "1932")

    report = await press.report()

    quotes = {each.mark: each.quote for each in report.citations}
    (said,) = report.analysis
    assert [quotes[mark] for mark in said.marks] == [OPENED, "In 1933 only 40 boats passed."]
    (other,) = report.findings  # the last citation stays: a sentence without one would be bare
    assert [quotes[mark] for mark in other.marks] == [OPENED]


@pytest.mark.conformance("REP-04")
async def test_a_number_that_only_another_source_has_is_refused_until_that_source_is_cited(
    press: ReportJob, players: ScriptedRoles
) -> None:
    boats = "Of the 40 boats of 1933 none paid."
    writing(players, answer("It cost 900 pounds, and 40 boats passed.", "It cost 840 more."))
    correcting(players, "Then 40 boats passed.", evidence="E2")
    last = final_task("T2", "T1", "T3")
    await press.planned(plan(T1, T3, last))
    await press.found(T1, "1932", OPENED)
    await press.found(T3, "40", boats)
    await press.found(last, "840")

    report = await press.report()

    (sent,) = players.tasks(SENTENCE_CORRECTOR)[0]["sentences"]
    assert sent["why"] == "the number 40 is in no passage that is cited"
    # The answer was computed, and no passage could be cited for it.
    assert findings(report) == ["Then 40 boats passed.", "It cost 840 more."]
