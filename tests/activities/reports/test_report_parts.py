"""Tests for the parts of a report: answer, groups, both sides of a contradiction, evidence."""

import json
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from holdfast.activities.runtime.task_outcome import invalid_answer_failure
from holdfast.models.evidence.evidence import Report
from holdfast.models.plans.research_plan import ExpectedEntity, Plan, Task, TaskKind, TaskStatus
from holdfast.models.tasks.task_failure import Component
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_json, to_markdown
from holdfast.reports.short_answer import short_answer
from holdfast.roles.reports.condenser import CONDENSER
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.verification.sentence_checker import SENTENCE_CHECKER
from holdfast.storage.jobs import job_rows
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.report_job import REPORT_JOB_ID, ReportJob

pytestmark = pytest.mark.slow

OPENED = "Selby Bridge was opened in 1932 by Ada Marsh."
BUILT = "Orme Gate was built in 1871 of grey stone."
T1, T2 = lookup_task("T1"), lookup_task("T2")
T3 = final_task("T3", "T1", "T2")


def written(**parts: Any) -> dict[str, Any]:
    """What a synthesiser answers that writes every part."""
    return {
        "summary": [{"text": "Selby Bridge was opened in 1932.", "evidence": ["E1"]}],
        "findings": [{"text": "Orme Gate was built in 1871.", "evidence": ["E2"]}],
        "analysis": [{"text": "Ada Marsh opened the bridge.", "evidence": ["E1"]}],
        "conclusions": [
            {
                "text": "The bridge was opened in 1932.",
                "evidence": ["E1"],
                "confidence": 0.8,
                "limits": "One source says so.",
            }
        ],
        "gaps": ["Nothing was read of its closing."],
    } | parts


async def two_found(press: ReportJob) -> None:
    await press.planned(plan(T1, T2, T3))
    await press.found(T1, "1932", OPENED, title="Bridge")
    await press.found(T2, "1871", BUILT, title="Gate")
    await press.found(T3, "1932")


@pytest.mark.conformance("VMAO-10")
async def test_a_report_has_all_its_parts_and_its_json_the_names_of_the_paper(
    press: ReportJob, players: ScriptedRoles
) -> None:
    players.parts["synthesiser"] = lambda _: written()
    await two_found(press)

    told = to_json(await press.report())

    assert {"answer", "key_findings", "confidence", "sources", "gaps"} <= set(told)
    assert (told["answer"], told["confidence"]) == ("1932", 0.9)
    assert told["key_findings"] == [
        {
            "text": "Orme Gate was built in 1871.",
            "marks": [2],
            "strength": "",
            "level": "single source",
        }
    ]
    assert [source["address"] for source in told["sources"]] == ["T1.md", "T2.md"]
    assert told["analysis"] == [
        {
            "text": "Ada Marsh opened the bridge.",
            "marks": [1],
            "strength": "",
            "level": "single source",
        }
    ]
    assert told["conclusions"] == [
        {
            "text": "The bridge was opened in 1932.",
            "marks": [1],
            "strength": "",
            "level": "single source",
            "confidence": 0.8,
            "limits": "One source says so.",
        }
    ]
    assert told["gaps"] == ["Nothing was read of its closing."]
    assert json.loads(json.dumps(told)) == told


@pytest.mark.conformance("VMAO-11")
async def test_each_citation_resolves_to_a_stored_passage_with_its_address_and_place(
    press: ReportJob, players: ScriptedRoles
) -> None:
    players.parts["synthesiser"] = lambda _: written()
    await two_found(press)

    report = await press.report()

    assert [(c.address, c.start, c.end, c.quote) for c in report.citations] == [
        ("T1.md", 0, len(OPENED), OPENED),
        ("T2.md", 0, len(BUILT), BUILT),
    ]
    checks = {check.name: check.has_passed for check in report.delivery_checks}
    assert checks == dict.fromkeys(
        ("tasks", "questions", "contradictions", "citations", "spend"), True
    )


async def test_the_writer_sees_results_and_evidence_and_may_cite_only_these(
    press: ReportJob, players: ScriptedRoles
) -> None:
    wrong = written(findings=[{"text": "It is old.", "evidence": ["E7"]}])
    answers = iter([wrong, written()])
    players.parts["synthesiser"] = lambda _: next(answers)
    await two_found(press)

    await press.report()

    first, second = players.asked["synthesiser"]
    assert [(r["task"], r["values"], r["status"]) for r in first.task["results"]] == [
        ("T1", {"value": "1932"}, "done"),
        ("T2", {"value": "1871"}, "done"),
    ]
    assert [item["id"] for item in first.task["evidence"]] == ["E1", "E2"]
    assert (first.task["answer"], first.task["concludes"]) == ("1932", False)
    assert "cites 'E7', which is not among the evidence" in second.turns[-1]["content"]


@pytest.mark.conformance("VMAO-10")
async def test_more_than_eight_findings_are_sent_back(
    press: ReportJob, players: ScriptedRoles
) -> None:
    many = [{"text": f"“{OPENED[:n]}”", "evidence": ["E1"]} for n in range(20, 29)]
    answers = iter([written(findings=many), written(findings=many[:8])])
    players.parts["synthesiser"] = lambda _: next(answers)
    await two_found(press)

    assert len((await press.report()).findings) == 8
    assert "there are 9 findings" in players.asked["synthesiser"][1].turns[-1]["content"]


def agent_task(task_id: str, agent: str, **fields: Any) -> Task:
    return Task(
        id=task_id,
        kind=TaskKind.AGENT,
        description=f"find out {task_id}",
        agent=agent,
        expects=(ExpectedEntity(name="value"),),
        **fields,
    )


def agents() -> Plan:
    return plan(
        agent_task("T1", "web"),
        agent_task("T2", "rag"),
        lookup_task("T1.1", parent="T1"),
        lookup_task("T2.1", parent="T2"),
        lookup_task("T2.2", parent="T2", status=TaskStatus.FAILED),
    )


async def test_without_a_final_task_the_writer_concludes_the_answer(
    press: ReportJob, players: ScriptedRoles
) -> None:
    players.parts["synthesiser"] = lambda _: written(conclusion="1932")
    tasks = agents()
    await press.planned(tasks, verify=True)
    await press.found(tasks.by_id["T1.1"], "1932", OPENED)
    await press.found(tasks.by_id["T2.1"], "1871", BUILT)
    await press.found(tasks.by_id["T1"], "1932")
    await press.found(tasks.by_id["T2"], "1871")

    report = await press.report()

    assert players.tasks(SYNTHESISER)[0]["concludes"]
    assert [r["agent"] for r in players.tasks(SYNTHESISER)[0]["results"]] == ["web", "rag"]
    assert report.answer == (await job_rows.load_job(press.db, REPORT_JOB_ID)).answer == "1932"
    assert {citation.address for citation in report.citations} == {"T1.1.md", "T2.1.md"}
    assert report.gaps == ("Nothing was read of its closing.",), "an agent's steps are its own"


@pytest.mark.conformance("REP-02")
async def test_a_last_task_that_failed_is_no_gap_of_the_documents(
    press: ReportJob, players: ScriptedRoles
) -> None:
    players.parts["synthesiser"] = lambda _: written(findings=[])
    last = final_task("T2", "T1").with_description("Answer: When was it opened?", "")
    await press.planned(plan(T1, last))
    await press.found(T1, "1932", OPENED)
    press.execute(
        "update tasks set status = 'failed', failure = %(failure)s where id = 'T2'",
        failure=Jsonb(invalid_answer_failure(Component.REASONER, ["no JSON"]).model_dump()),
    )

    report = await press.report()

    assert report.answer is None
    assert report.gaps[0] == (
        "The short answer could not be concluded: The reasoner gave no valid answer: no JSON"
    )
    assert not any(gap.startswith("Not found: ") for gap in report.gaps)
    assert [line.partition(":")[0] for line in report.advice] == ["Ask again, or ask another model"]


@pytest.mark.conformance("REP-01")
async def test_an_answer_that_a_kept_sentence_computes_is_no_gap(
    press: ReportJob, players: ScriptedRoles
) -> None:
    costs = "The bridge cost £187,600, of which £162,600 were granted and £1,500 given."
    said = "£187,600 less £162,600 and £1,500 leave £23,500."
    told = written(conclusion="£23,500") | {"summary": [{"text": said, "evidence": ["E1"]}]}
    players.parts["synthesiser"] = lambda _: told
    tasks = agents()
    await press.planned(tasks, verify=True)
    for name, text in (("T1.1", costs), ("T2.1", costs), ("T1", ""), ("T2", "")):
        await press.found(tasks.by_id[name], "£187,600", text)

    report = await press.report()

    assert [each.text for each in report.summary] == [said]
    assert not any("concluded" in gap for gap in report.gaps)


async def test_a_concluded_list_is_stated_if_its_elements_are(
    press: ReportJob, players: ScriptedRoles
) -> None:
    conclusion = ["Selby Bridge: 1932, Ada Marsh", "Orme Gate: 1871"]
    players.parts["synthesiser"] = lambda _: written(conclusion=conclusion)
    tasks = agents()
    await press.planned(tasks, verify=True)
    await press.found(tasks.by_id["T1.1"], "1932", OPENED)
    await press.found(tasks.by_id["T2.1"], "1871", BUILT)
    await press.found(tasks.by_id["T1"], "1932")
    await press.found(tasks.by_id["T2"], "1871")

    report = await press.report()
    shown = short_answer(report).answer

    assert report.answer == json.dumps(conclusion)
    assert report.gaps == ("Nothing was read of its closing.",)
    assert shown is not None
    assert shown.text == "Selby Bridge: 1932, Ada Marsh; Orme Gate: 1871"


async def test_a_concluded_answer_that_nothing_read_has_is_said_to_be_so(
    press: ReportJob, players: ScriptedRoles
) -> None:
    players.parts["synthesiser"] = lambda _: written(conclusion="In 1944")
    tasks = agents()
    await press.planned(tasks, verify=True)
    for name, text in (("T1.1", OPENED), ("T2.1", BUILT), ("T1", ""), ("T2", "")):
        await press.found(tasks.by_id[name], "1932", text)

    report = await press.report()

    assert report.gaps[-1].startswith("The short answer was concluded, and no source states it: ")
    assert "1944" in report.gaps[-1]
    assert report.confidence == 0.5


async def test_the_rules_conclude_write_and_cost_one_call(press: ReportJob) -> None:
    tasks = agents()
    await press.planned(tasks, verify=True, model="extractive", question="When was it opened?")
    for name, text in (("T1.1", OPENED), ("T1", "")):
        await press.found(tasks.by_id[name], "1932", text, title="Selby Bridge")
    press.execute("update tasks set status = 'failed' where id = 'T2'")

    report = await press.report()

    assert report.answer == "1932"
    assert report.summary[0].text == "1932."
    assert report.findings[0].text == f"Selby Bridge: “{OPENED}”"
    assert [(c.confidence, bool(c.limits)) for c in report.conclusions] == [(0.19, True)]
    assert report.gaps == ("Not found: find out T2",)
    assert report.check_summary is not None
    assert (
        report.check_summary.dropped,
        report.check_summary.hedged,
        report.check_summary.checked_by,
    ) == (0, 0, "")
    assert [call.role for call in await job_queries.job_calls(press.db, REPORT_JOB_ID)] == [
        "synthesiser"
    ]


def ten() -> Plan:
    lookups = [
        lookup_task(f"T{n}").model_copy(
            update={"tool": "lab.lookup" if n > 6 else "lab.wikipedia_search"}
        )
        for n in range(1, 11)
    ]
    return plan(*lookups, final_task("T11", *(task.id for task in lookups)))


@pytest.mark.conformance("VMAO-10")
@pytest.mark.parametrize("model_name", ["scripted", "extractive"])
async def test_ten_results_are_condensed_by_group_and_then_integrated(
    press: ReportJob, players: ScriptedRoles, model_name: str
) -> None:
    tasks = ten()
    await press.planned(tasks, model=model_name)
    for task in tasks.tasks:
        text = "" if task.is_final else f"Page {task.id} says that it is of stone."
        await press.found(task, "stone", text)

    report = await press.report()

    calls = [
        call
        for call in await job_queries.job_calls(press.db, REPORT_JOB_ID)
        if call.role != "sentence_checker"
    ]
    assert [call.role for call in calls] == ["condenser", "condenser", "synthesiser"]
    assert report.citations
    if model_name == "scripted":
        given = {each["group"]: len(each["evidence"]) for each in players.tasks(CONDENSER)}
        assert given == {"lab.wikipedia_search": 6, "lab.lookup": 4}
        (integrated,) = players.tasks(SYNTHESISER)
        assert [len(group["statements"]) for group in integrated["groups"]] in ([6, 4], [4, 6])


async def test_a_group_that_found_nothing_is_not_condensed(
    press: ReportJob, players: ScriptedRoles
) -> None:
    empty = lookup_task("T12").model_copy(update={"tool": "lab.other"})
    tasks = plan(*ten().tasks, empty)
    await press.planned(tasks)
    for task in ten().tasks:
        text = "" if task.is_final else f"Page {task.id} says that it is of stone."
        await press.found(task, "stone", text)
    press.execute("update tasks set status = 'done' where id = 'T12'")

    await press.report()

    condensed = {each["group"] for each in players.tasks(CONDENSER)}
    assert condensed == {"lab.wikipedia_search", "lab.lookup"}


@pytest.mark.conformance("VMAO-10")
async def test_nine_short_results_are_written_up_in_one_call(
    press: ReportJob, players: ScriptedRoles
) -> None:
    names = [lookup_task(f"T{n}") for n in range(1, 10)]
    await press.planned(plan(*names, final_task("T10", *(task.id for task in names))))
    for task in (*names, final_task("T10")):
        await press.found(task, "stone", f"Page {task.id} says that it is of stone.")

    await press.report()

    assert (players.count(CONDENSER), players.count(SYNTHESISER)) == (0, 1)


@pytest.mark.conformance("WAVE-08")
async def test_an_unsettled_contradiction_is_in_the_report_with_both_sides_cited(
    press: ReportJob, players: ScriptedRoles
) -> None:
    players.parts["synthesiser"] = lambda _: written()
    await two_found(press)
    verdict(press, "T1", one="It was opened in 1932.", other="It was built in 1871.")

    report = await press.report()

    (sides,) = report.contradictions
    places = {citation.mark: citation.address for citation in report.citations}
    assert (sides.one.text, [places[mark] for mark in sides.one.marks]) == (
        "It was opened in 1932.",
        ["T1.md"],
    )
    assert (sides.other.text, [places[mark] for mark in sides.other.marks]) == (
        "It was built in 1871.",
        ["T2.md"],
    )
    assert players.tasks(SYNTHESISER)[0]["contradictions"][0]["settled_by"] == ""
    assert "It was opened in 1932. [1] Against it: It was built in 1871. [2]" in to_markdown(report)
    assert "Against it" in to_html(report)


async def test_the_last_verdicts_name_what_is_missing_and_why_verifying_stopped(
    press: ReportJob, players: ScriptedRoles
) -> None:
    players.parts["synthesiser"] = lambda _: written()
    await two_found(press)
    verdict(press, "T1", completeness=0.2, round_=1)
    verdict(press, "T1", completeness=0.6, round_=2, missing=["the month"])
    press.execute(
        "insert into stop_log (job_id, round, complete, total, confidence, tokens,"
        " conditions, fired) values (%(job)s, 2, 1, 2, 0.7, 10, '[]', 'max_rounds')",
        job=REPORT_JOB_ID,
    )

    report = await press.report()

    given = players.tasks(SYNTHESISER)[0]
    assert given["results"][0]["completeness"] == 0.6
    assert given["verification"] == {
        "rounds": 2,
        "complete": 1,
        "total": 2,
        "confidence": 0.7,
        "stopped_by": "max_rounds",
    }
    assert "Not complete: find value for T1 (missing: the month)" in report.gaps
    assert report.confidence == 0.5, "no surer than the verdict on what the answer depends on"
    assert "Verification stopped: the rounds were used up" in to_markdown(report)


def verdict(
    press: ReportJob,
    task_id: str,
    *,
    one: str = "",
    other: str = "",
    completeness: float = 0.6,
    round_: int = 1,
    missing: list[str] | None = None,
) -> None:
    """What the verifier said of a result in a round; the contradiction is with T2."""
    opposed = [{"one": one, "other": other, "tasks": ["T1", "T2"]}] if one else []
    press.execute(
        "insert into verifications (job_id, round, task_id, attempt, status, completeness,"
        " confidence, missing, contradictions, recommendation, is_carried_over, model) values"
        " (%(job)s, %(round)s, %(task)s, 1, 'partial', %(completeness)s, 0.5, %(missing)s,"
        " %(opposed)s, 'retry', false, 'm')",
        job=REPORT_JOB_ID,
        round=round_,
        task=task_id,
        completeness=completeness,
        missing=json.dumps(missing or []),
        opposed=json.dumps(opposed),
    )


def test_a_report_of_an_earlier_release_can_still_be_read() -> None:
    old = {
        "question": "Who?",
        "answer": "Ada",
        "summary": [{"text": "Ada.", "marks": []}],
        "findings": [],
        "gaps": ["T2: her birthday"],
        "citations": [],
        "model": "extractive",
    }

    report = Report.model_validate(old)

    assert (report.check_summary, report.delivery_checks, report.conclusions) == (None, (), ())
    assert "How it was checked" not in to_markdown(report)
    assert to_json(report)["sources"] == []


async def test_sentences_are_not_judged_by_a_model_where_that_is_switched_off(
    press: ReportJob, players: ScriptedRoles
) -> None:
    players.parts["synthesiser"] = lambda _: written()
    await press.planned(plan(T1, T3), check_sentences=False)
    await press.found(T1, "1932", OPENED + BUILT)
    await press.found(T3, "1932")
    players.parts["synthesiser"] = lambda _: written(findings=[])

    await press.report()

    assert players.count(SENTENCE_CHECKER) == 0
