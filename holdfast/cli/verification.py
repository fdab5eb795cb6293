"""`holdfast verification`: the verdicts, the stop ledger, and who contradicts whom."""

from collections.abc import Iterator

from holdfast.cli.installation import ask
from holdfast.cli.output import console, print_json, print_text, printable, short, table
from holdfast.client import Holdfast
from models.rounds import RoundView, VerificationView
from models.verification import Contradiction, StopCheck
from planning.contradictions import once_each
from storage import jobs, verifications
from storage.database import Database


def verification_command(job_id: str, *, json_output: bool) -> None:
    async def read(holdfast: Holdfast) -> VerificationView:
        return await verification_of(holdfast.db, job_id)

    view = ask(read)
    if json_output:
        print_json(view)
        return
    if not view.rounds:
        print_text(f"job {job_id} has not been verified; its strategy may not have it (verify)")
        return
    for each in view.rounds:
        _print_round(each)
    for contradiction in view.contradictions:
        print_text(printable(contradiction_line(contradiction)))


async def verification_of(db: Database, job_id: str) -> VerificationView:
    """All rounds of the job.

    Raises:
        NotFound: there is no such job.
    """
    await jobs.load(db, job_id)
    verdicts = await verifications.verdicts_of(db, job_id)
    ledger = await verifications.rounds_of(db, job_id)
    rounds = tuple(
        RoundView(check=line, verdicts=verdicts.get(line.iteration, ())) for line in ledger
    )
    return VerificationView(
        job_id=job_id,
        rounds=rounds,
        stopped_by=rounds[-1].check.fired if rounds else None,
        contradictions=once_each(rounds[-1].verdicts) if rounds else (),
    )


def _print_round(each: RoundView) -> None:
    for line in round_lines(each.check):
        print_text(line)
    columns = ("task", "attempt", "status", "score", "sure", "recommends", "missing")
    rows = [
        (
            verdict.task_id,
            verdict.attempt,
            f"{verdict.status.value} (earlier)" if verdict.is_carried else verdict.status.value,
            f"{verdict.completeness:.2f}",
            f"{verdict.confidence:.2f}",
            verdict.recommendation.value,
            short("; ".join(verdict.missing), 90),
        )
        for verdict in each.verdicts
    ]
    console().print(table(columns, rows))


def round_lines(line: StopCheck) -> Iterator[str]:
    """The round's place in the stop ledger: each condition, and which of them fired."""
    why = f"stopped: {line.fired.value}" if line.fired else "went on"
    yield f"round {line.iteration}: {why}"
    for each in line.conditions:
        yield f"  {'*' if each.fired else ' '} {each.condition.value}: {each.seen}"


def contradiction_line(each: Contradiction) -> str:
    """Both claims, and what became of them."""
    became = f"settled by {each.settled_by}" if each.settled_by else "not settled"
    sides = " and ".join(each.tasks)
    return f"contradiction of {sides}: {short(each.one, 80)} / {short(each.other, 80)} ({became})"
