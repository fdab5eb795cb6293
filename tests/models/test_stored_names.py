"""The closed sets of names that PostgreSQL and Temporal's histories keep, against their list."""

import re
from enum import StrEnum
from pathlib import Path

import pytest

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.evidence.evidence import EvidenceStatus
from holdfast.models.evidence.source_checks import SourceDrift
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.jobs.job_recovery import LossCause
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.questions.user_questions import AnswerOrigin, QuestionKind, QuestionStatus
from holdfast.models.verification.verification_verdicts import Completeness, Recommendation
from holdfast.models.wire.role_names import RoleName
from holdfast.models.wire.search_attributes import SearchAttribute

_PAGE = Path(__file__).parents[2] / "docs" / "changing-workflows.md"
_CLOSED_SETS: list[type[StrEnum]] = [
    PlanChangeCause,
    JobStatus,
    TaskKind,
    TaskStatus,
    CallStatus,
    QuestionKind,
    QuestionStatus,
    AnswerOrigin,
    EvidenceStatus,
    SourceDrift,
    Completeness,
    Recommendation,
    LossCause,
    SearchAttribute,
    RoleName,
]


@pytest.mark.parametrize("closed_set", _CLOSED_SETS, ids=lambda kind: kind.__name__)
def test_documentation_lists_every_word_of_a_closed_set(closed_set: type[StrEnum]) -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", _PAGE.read_text("utf-8"), re.MULTILINE))

    assert rows[closed_set.__name__].split(", ") == [member.value for member in closed_set]
