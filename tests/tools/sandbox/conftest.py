"""Fixtures for the sandbox of this machine."""

import pytest

from holdfast.tools.sandbox.sandbox_support import find_sandbox


@pytest.fixture
async def bubblewrap() -> str:
    """The path of bubblewrap; skips the test where bubblewrap confines nothing."""
    support = await find_sandbox()
    if support.bubblewrap is None:
        pytest.skip(support.reason)
    return support.bubblewrap
