"""`holdfast retract`: take a piece of evidence back, and see what had rested on it."""

from holdfast.cli.installation import ask
from holdfast.cli.output import print_json, print_text, printable, short
from holdfast.cli.requests import who_asks
from holdfast.retracting import retract
from models.evidence import Retraction


def retract_command(job_id: str, evidence_id: int, reason: str, *, json_output: bool) -> None:
    by = who_asks()
    found = ask(lambda holdfast: retract(holdfast.db, job_id, evidence_id, reason=reason, by=by))
    if json_output:
        print_json(found)
        return
    for line in _lines(job_id, found):
        print_text(printable(line))


def _lines(job_id: str, found: Retraction) -> list[str]:
    lines = [f"evidence {found.evidence_id} of {job_id} is retracted: {short(found.reason, 200)}"]
    lines.append(f"it had shown:     {', '.join(found.entities)}")
    lines.append(f"rested on it:     {', '.join(found.tasks) or 'no task'}")
    lines += [f"the report says:  {short(each, 200)}" for each in found.statements]
    lines.append(
        f"`holdfast retry {job_id} {found.task}` has it looked for anew, and the report written"
    )
    return lines
