"""Choose the parameters with which `make test` runs a test; `make long` runs it with all others."""

from collections.abc import Iterable

import pytest


def mostly_long(values: Iterable[object], *, usual: int) -> list[object]:
    """The first `usual` values as they are, and the others for `make long` alone."""
    return [each if at < usual else only_long(each) for at, each in enumerate(values)]


def only_long(*values: object) -> object:
    """The values of one parameter set for `make long` alone."""
    return pytest.param(*values, marks=pytest.mark.long)
