"""Condenser role: sum up one group's results when a report has too much evidence."""

from pydantic import Field

from holdfast.models.answer_draft import Draft
from holdfast.models.frozen_model import Frozen
from holdfast.models.reports.report_writer_messages import EvidenceItem, ResultItem, Statement
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role

MOST_STATEMENTS = 12


class CondenserTask(Frozen):
    """What the condenser is given: the results of one group."""

    question: str
    group: str = Field(description="whose results these are: an agent, a tool, or reasoning")
    results: tuple[ResultItem, ...]
    evidence: tuple[EvidenceItem, ...]


class CondenserAnswer(Draft):
    """The group in a few sentences."""

    statements: list[Statement] = Field(
        description="at most twelve sentences, what bears on the question first"
    )


CONDENSER = Role(
    name=RoleName.CONDENSER.value,
    instructions="""\
You condense the `results` of one `group` of research tasks for the report that answers `question`.
Write at most twelve sentences, those that bear on the question first. Each sentence names the ids
of the `evidence` it rests on and says no more than the quotes say, with their names and numbers.
Keep what contradicts something else. Use only the ids you were given, and write no marks into the
text.
""",
    foreign_fields=("results", "evidence"),
    task=CondenserTask,
    answer=CondenserAnswer,
)
