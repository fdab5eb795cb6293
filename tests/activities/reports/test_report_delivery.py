"""Tests for what refuses the delivery of a report, and for what retracted evidence does to a
report."""

import pytest

from holdfast.evidence.evidence_retraction import retract_job_evidence
from holdfast.models.errors import BadInput, NotFound
from holdfast.models.jobs.activity_orders import ReportOrder
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_markdown
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ReceivedRequest
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.report_job import REPORT_JOB_ID, ReportJob

pytestmark = pytest.mark.slow

OPENED = "Selby Bridge was opened in 1932 by Ada Marsh."
BUILT = "Orme Gate was built in 1871 of grey stone."
T1, T2, T3 = lookup_task("T1"), lookup_task("T2"), final_task("T3", "T1", "T2")
ASK = (
    "insert into questions (job_id, key, kind, text, choices) values ('job-1', 'q', 'question',"
    " 'Which bridge?', '[]')"
)
CALL = (
    "insert into model_calls (job_id, task_id, attempt, part, request_hash, request, status, role,"
    " model) values ('job-1', %(task)s, 1, '1', 'x', '{}', 'started', 'extractor', 'm')"
)


async def found(press: ReportJob) -> None:
    await press.planned(plan(T1, T2, T3))
    await press.found(T1, "1932", OPENED)
    await press.found(T2, "1871", BUILT)
    await press.found(T3, "1932")


async def refusals(press: ReportJob) -> list[str]:
    events = await job_queries.events_after(press.db, REPORT_JOB_ID, 0)
    refused = [event.facts for event in events if event.kind == "report.refused"]
    assert {facts["reason"] for facts in refused} <= {"report_refused"}, "the ledger looks for it"
    return [str(facts["message"]) for facts in refused]


@pytest.mark.conformance("WAVE-07")
async def test_an_open_question_refuses_the_report_before_it_is_paid_for(
    press: ReportJob, players: ScriptedRoles
) -> None:
    await found(press)
    press.execute(ASK)

    message = await press.refusal()

    assert "a delivery check failed: questions: question 1 is open" in message
    assert await refusals(press) == [message]
    assert players.count(SYNTHESISER) == 0


@pytest.mark.conformance("WAVE-07")
async def test_a_call_without_an_outcome_refuses_the_report_unless_its_task_was_given_up(
    press: ReportJob, players: ScriptedRoles
) -> None:
    await found(press)
    press.execute(CALL, task="")

    assert "spend: the call of extractor has no outcome" in await press.refusal()

    press.execute("update model_calls set task_id = 'T1'")
    press.execute("delete from receipts where key like 'report%%'")
    assert (await press.report()).citations


@pytest.mark.conformance("WAVE-07")
async def test_a_task_that_is_neither_done_nor_named_refuses_the_report(
    press: ReportJob, players: ScriptedRoles
) -> None:
    await found(press)
    press.execute("update tasks set status = 'running' where id = 'T2'")

    assert "tasks: T2 is running and no gap names it" in await press.refusal()


async def test_a_refused_report_is_not_written_again_by_the_same_run(
    press: ReportJob, players: ScriptedRoles
) -> None:
    await found(press)
    press.execute(ASK)
    first = await press.write()
    press.execute("update questions set status = 'answered'")

    assert await press.write() == first

    later = ReportOrder(job_id=REPORT_JOB_ID, epoch=press.epoch + 1)
    press.execute("update jobs set epoch = epoch + 1")
    assert (await press.reporting.write_report(later)).halt is None


@pytest.mark.conformance("VMAO-11", "WAVE-07")
@pytest.mark.parametrize(
    "harm",
    [
        "update sources set text = replace(text, 'Selby', 'Selbi')",
        "update sources set text = text || ' '",
        "update evidence set quote = 'Selby Ladder'",
        "update evidence set start_char = 1",
    ],
)
async def test_evidence_that_does_not_resolve_refuses_the_report(
    press: ReportJob, players: ScriptedRoles, harm: str
) -> None:
    await found(press)
    press.execute(harm)

    assert "evidence: the quote for T1.value does not resolve in T1.md" in await press.refusal()


@pytest.mark.conformance("WAVE-06", "VMAO-11")
async def test_what_is_retracted_while_the_report_is_written_refuses_it(
    press: ReportJob, players: ScriptedRoles
) -> None:
    def part(asked: ReceivedRequest) -> object:
        press.execute("update evidence set status = 'retracted' where task_id = 'T1'")
        return players._synthesiser(asked)

    players.parts["synthesiser"] = part
    await found(press)

    assert "citations: evidence 1 of mark 1 is not active" in await press.refusal()


@pytest.mark.conformance("WAVE-06")
async def test_retracting_names_what_depended_on_it_and_the_report_warns(
    press: ReportJob, players: ScriptedRoles
) -> None:
    await found(press)
    report = await press.report()
    chosen = next(c for c in report.citations if c.address == "T1.md")

    taken = await retract_job_evidence(
        press.db, REPORT_JOB_ID, chosen.evidence_id, reason="a hoax", by="dana"
    )
    after = await press.delivered()

    assert (taken.entities, taken.tasks, taken.task) == (("T1.value",), ("T3",), "T1")
    assert taken.statements == (OPENED, OPENED), "of the summary, and of the findings"
    (warning,) = after.warnings
    assert warning.startswith(f"mark {chosen.mark} supports nothing any more: its evidence ")
    assert warning.endswith(f" {chosen.evidence_id} was retracted: a hoax")
    assert "**Warning:** mark 1 supports nothing" in to_markdown(after)
    assert "<b>Warning:</b> mark 1 supports nothing" in to_html(after)
    (event,) = [
        e
        for e in await job_queries.events_after(press.db, REPORT_JOB_ID, 0)
        if e.kind == "evidence.retracted"
    ]
    assert (event.facts["by"], event.facts["reason"], event.facts["tasks"]) == (
        "dana",
        "a hoax",
        ["T3"],
    )


@pytest.mark.conformance("WAVE-06")
async def test_retracted_evidence_supports_nothing_not_even_when_it_is_found_again(
    press: ReportJob, players: ScriptedRoles
) -> None:
    await found(press)
    await retract_job_evidence(press.db, REPORT_JOB_ID, 1, reason="a hoax", by="dana")
    press.execute(
        "insert into evidence (job_id, task_id, entity, source_id, start_char, end_char, quote)"
        " select job_id, 'T2', 'value', source_id, start_char, end_char, quote from evidence"
        " where id = 1"
    )

    report = await press.report()

    (given,) = players.tasks(SYNTHESISER)
    assert [item["quote"] for item in given["evidence"]] == [BUILT]
    assert [result["values"] for result in given["results"]] == [{}, {"value": "1871"}]
    assert [citation.quote for citation in report.citations] == [BUILT]
    assert report.gaps == ("The evidence was retracted: find value for T1 (found from it: answer)",)
    assert report.warnings == ()


@pytest.mark.conformance("WAVE-06")
async def test_the_same_words_under_another_name_are_retracted_with_it(
    press: ReportJob, players: ScriptedRoles
) -> None:
    await found(press)
    press.execute(
        "insert into evidence (job_id, task_id, entity, source_id, start_char, end_char, quote)"
        " select job_id, task_id, 'other', source_id, start_char, end_char, quote from evidence"
        " where id = 1"
    )

    taken = await retract_job_evidence(press.db, REPORT_JOB_ID, 1, reason="a hoax", by="dana")

    assert taken.entities == ("T1.value", "T1.other")


async def test_what_cannot_be_retracted_is_refused_by_name(press: ReportJob) -> None:
    await found(press)
    await retract_job_evidence(press.db, REPORT_JOB_ID, 1, reason="a hoax", by="dana")

    with pytest.raises(BadInput, match="evidence 1 of job job-1 is retracted already"):
        await retract_job_evidence(press.db, REPORT_JOB_ID, 1, reason="again", by="dana")
    with pytest.raises(NotFound, match="no evidence 99"):
        await retract_job_evidence(press.db, REPORT_JOB_ID, 99, reason="a hoax", by="dana")
    with pytest.raises(BadInput, match="the reason needs 1 to 500 characters"):
        await retract_job_evidence(press.db, REPORT_JOB_ID, 2, reason=" ", by="dana")
    with pytest.raises(NotFound, match="no job 'job-9'"):
        await retract_job_evidence(press.db, "job-9", 2, reason="a hoax", by="dana")


async def test_a_delivered_report_names_its_job_and_when_it_was_delivered(
    press: ReportJob, players: ScriptedRoles
) -> None:
    await found(press)

    report = await press.report()

    assert report.delivered_at is not None
    assert f"Job {REPORT_JOB_ID}, delivered {report.delivered_at:%Y-%m-%d}" in to_html(report)
