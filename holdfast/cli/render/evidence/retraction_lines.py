"""Format the effects of a retraction: the entities, tasks and sentences that depended on it."""

from holdfast.cli.render.terminal_output import shortened_line
from holdfast.models.evidence.evidence import Retraction


def retraction_lines(job_id: str, retraction: Retraction) -> list[str]:
    """The entities, tasks and sentences that depended on the evidence, and what to do next."""
    number, reason = retraction.evidence_id, shortened_line(retraction.reason, 200)
    return [
        f"evidence {number} of {job_id} is retracted: {reason}",
        f"supported entities: {', '.join(retraction.entities)}",
        f"dependent tasks:    {', '.join(retraction.tasks) or 'none'}",
        *(
            f"the report says:    {shortened_line(statement, 200)}"
            for statement in retraction.statements
        ),
        f"`holdfast retry {job_id} {retraction.task}` searches again and writes a new report",
    ]
