"""Declare the commands that show, trace, recheck and retract sources and evidence."""

from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JobArgument, JsonOption


def retract(
    job: JobArgument,
    evidence: Annotated[
        int, typer.Argument(metavar="EVIDENCE", help="Its number in the report's sources.")
    ],
    reason: Annotated[str, typer.Option("--reason", help="Why; the job's log keeps the reason.")],
    json_output: JsonOption = False,
) -> None:
    """Withdraw a piece of evidence, and see what depended on it."""
    from holdfast.cli.commands.evidence.retraction_commands import retract_command

    retract_command(job, evidence, reason, json_output=json_output)


def source(
    number: Annotated[
        int,
        typer.Argument(
            metavar="SOURCE", min=1, max=2**63 - 1, help="Its number in the report's sources."
        ),
    ],
    json_output: JsonOption = False,
) -> None:
    """Show a source: its text with the quotes marked, its address, and who read it when."""
    from holdfast.cli.commands.evidence.source_commands import source_command

    source_command(number, json_output=json_output)


def trace(
    job: JobArgument,
    mark: Annotated[
        int, typer.Argument(metavar="MARK", help="A citation mark of its report, such as 3.")
    ],
    json_output: JsonOption = False,
) -> None:
    """Show where a citation comes from: the passage, the calls and Temporal's history."""
    from holdfast.cli.commands.evidence.trace_commands import trace_command

    trace_command(job, mark, json_output=json_output)


def recheck(
    job: Annotated[
        str, typer.Argument(metavar="JOB|FILE.docx", help="The job, or a Word report of a job.")
    ],
    json_output: JsonOption = False,
) -> None:
    """Read the cited sources again, and say whether the quotes are still there."""
    from holdfast.cli.commands.evidence.recheck_commands import (
        recheck_command,
        recheck_document_command,
    )

    command = recheck_document_command if job.lower().endswith(".docx") else recheck_command
    raise typer.Exit(command(job, json_output=json_output))


def rederive(job: JobArgument, json_output: JsonOption = False) -> None:
    """Derive plan changes, verdicts and delivery checks again without a model, and compare."""
    from holdfast.cli.commands.evidence.rederive_command import rederive_command

    raise typer.Exit(rederive_command(job, json_output=json_output))
