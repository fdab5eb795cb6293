"""The option `--record` of `pytest tests/replay`, which writes the histories again (docs/changing-
workflows.md)."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write the histories of tests/replay")
