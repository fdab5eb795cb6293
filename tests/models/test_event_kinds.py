"""The kinds of entries in a job's log, which clients read."""

import re
from pathlib import Path

from holdfast.models.questions.control_requests import ControlKind
from holdfast.models.wire.event_kinds import EventKind

_API_PAGE = Path(__file__).parents[2] / "docs" / "api.md"


def test_api_page_lists_every_kind_of_event() -> None:
    section = _API_PAGE.read_text("utf-8").partition("### Kinds")[2].partition("\n## ")[0]

    assert re.findall(r"^\| `([\w.]+)` \|", section, re.MULTILINE) == [
        kind.value for kind in EventKind
    ]


def test_every_control_has_its_kind_of_event() -> None:
    kinds = {control: control.event_kind for control in ControlKind}

    assert kinds[ControlKind.PAUSED] is EventKind.JOB_PAUSED
    assert len(set(kinds.values())) == len(ControlKind)
