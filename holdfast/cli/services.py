"""The commands `up`, `down` and `doctor`."""

import asyncio
import json
import logging

import typer

from holdfast.logs import configure_logs
from holdfast.services.doctor import Finding, examine
from holdfast.services.lifecycle import down, up
from holdfast.settings import load_settings

_MARKS = {"ok": "ok  ", "failed": "FAIL", "skipped": "-   "}


def up_command(json_output: bool = False) -> None:
    """Start the embedded services and a worker, or find that they run."""
    endpoints = asyncio.run(up(load_settings(), _say))
    if json_output:
        # The database's address may hold a password.
        typer.echo(json.dumps(endpoints.model_dump(exclude={"database_url"})))
        return
    where = "embedded" if endpoints.embedded_database else "HOLDFAST_DATABASE_URL"
    typer.echo(f"PostgreSQL  {where}")
    typer.echo(f"Temporal    {endpoints.temporal_address} ({endpoints.temporal_namespace})")
    if endpoints.temporal_ui:
        typer.echo(f"Temporal UI {endpoints.temporal_ui}")
    typer.echo("ready; `holdfast down` stops what was started here")


def down_command(json_output: bool = False) -> None:
    """Stop the worker and the embedded services; all data stay."""
    ended = down(load_settings())
    if json_output:
        typer.echo(json.dumps({"stopped": ended}))
    else:
        typer.echo(f"stopped {', '.join(ended)}" if ended else "nothing was running")


def doctor_command(json_output: bool = False) -> None:
    """Look at every part that a job needs, and say how to mend what is broken."""
    if not logging.getLogger().handlers:
        configure_logs("ERROR")  # else an MCP server in this process would log in its own way
    findings = asyncio.run(examine())
    if json_output:
        typer.echo(json.dumps([finding.model_dump() for finding in findings]))
    else:
        for finding in findings:
            typer.echo(_line(finding))
    if any(finding.status == "failed" for finding in findings):
        raise typer.Exit(1)


def _line(finding: Finding) -> str:
    line = f"{_MARKS[finding.status]} {finding.part}: {finding.found}"
    return f"{line}\n     -> {finding.cure}" if finding.cure else line


def _say(line: str) -> None:
    # Progress is not the answer: it must not mix with --json.
    typer.echo(f"{line} ...", err=True)
