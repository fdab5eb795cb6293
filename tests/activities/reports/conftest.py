"""Fixture for report tests: a stored job with a real database and a real model endpoint, without a
workflow."""

from collections.abc import AsyncIterator

import pytest

from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.jobs.report_job import ReportJob, open_report_job


@pytest.fixture
async def press(database_url: str, model: ScriptedModel) -> AsyncIterator[ReportJob]:
    async with open_report_job(database_url, model.url) as press:
        yield press
