"""Make optional parts look as if they were not installed."""

from importlib.machinery import ModuleSpec
from importlib.util import find_spec

import pytest

from holdfast.tools import optional_parts
from holdfast.tools.optional_parts import OptionalPart


def hide_parts(monkeypatch: pytest.MonkeyPatch, *parts: OptionalPart) -> None:
    """Hide the modules of these parts until the end of the test."""
    hidden = {module for part in parts for module in optional_parts._MODULES[part]}

    def find_others(module: str) -> ModuleSpec | None:
        return None if module in hidden else find_spec(module)

    monkeypatch.setattr(optional_parts, "find_spec", find_others)
