"""Tests that a report states the confidence that answers of its route and its model have earned."""

from dataclasses import replace

import pytest

from holdfast.activities.reports.report_activities import ReportActivities
from holdfast.models.evidence.answer_routes import AnswerRoute
from holdfast.planning.reports.answer_calibration import CalibrationTables
from tests.activities.reports.test_report_parts import OPENED, written
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.report_job import ReportJob

pytestmark = pytest.mark.conformance("EVA-01")

TABLES: CalibrationTables = {"extractive": {AnswerRoute.DIRECT: 0.35}}


def calibrated(press: ReportJob) -> None:
    services = replace(press.reporting.services, calibrations=TABLES)
    press.reporting = ReportActivities(services)


@pytest.mark.parametrize(("name", "stated"), [("extractive", 0.35), ("scripted", 0.9)])
async def test_a_report_states_what_its_model_and_route_have_earned(
    press: ReportJob, players: ScriptedRoles, name: str, stated: float
) -> None:
    players.parts["synthesiser"] = lambda _: written(findings=[], analysis=[])
    calibrated(press)
    tasks = plan(lookup_task("T1"), final_task("T2", "T1"))
    await press.planned(tasks, model=name)
    await press.found(tasks.by_id["T1"], "1932", OPENED, title="Selby Bridge")
    await press.found(tasks.by_id["T2"], "1932")

    report = await press.report()

    assert (report.answer, report.route) == ("1932", AnswerRoute.DIRECT)
    assert report.confidence == stated
    assert all(each.confidence is None or each.confidence <= stated for each in report.conclusions)
