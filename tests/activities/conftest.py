"""Activities by themselves: a real database and a real endpoint, without a workflow."""

from collections.abc import AsyncIterator

import pytest

from tests.support.press import Press, running_press
from tests.support.scripted_model import ScriptedModel


@pytest.fixture
async def press(database_url: str, model: ScriptedModel) -> AsyncIterator[Press]:
    async with running_press(database_url, model.url) as press:
        yield press
