"""`pytest tests/replay --record` writes the histories anew: see docs/changing-workflows.md."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write the histories of tests/replay")
