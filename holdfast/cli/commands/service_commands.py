"""Implement `holdfast up`, `down` and `doctor`."""

import asyncio
from urllib.parse import urljoin

import typer

from holdfast.api.access.installation_token import token_file
from holdfast.cli.options.command_settings import load_command_settings
from holdfast.cli.render.terminal_output import print_json, print_text
from holdfast.cli.service_start import start_installation
from holdfast.configuration.json_logs import configure_quiet_logs
from holdfast.services.checks.health_checks import HealthCheckResult, run_health_checks
from holdfast.services.service_lifecycle import stop_services
from holdfast.web.page_address import page_address

_STATUS_MARKS = {"ok": "ok  ", "failed": "FAIL", "skipped": "-   "}


def up_command(*, json_output: bool) -> None:
    """Start the embedded services and a worker, or find that they run."""
    settings = load_command_settings()
    endpoints = asyncio.run(start_installation(settings, may_interrupt=True))
    page = asyncio.run(page_address(settings))
    if json_output:
        # The database's address may hold a password.
        print_json(
            {
                **endpoints.model_dump(exclude={"database_url"}),
                "page": page,
                "api": urljoin(page, "/").rstrip("/"),
                "token_file": str(token_file(settings.home)),
            }
        )
        return
    where = "embedded" if endpoints.embedded_database else "HOLDFAST_DATABASE_URL"
    print_text(f"PostgreSQL  {where}")
    print_text(f"Temporal    {endpoints.temporal_address} ({endpoints.temporal_namespace})")
    if endpoints.temporal_ui:
        print_text(f"Temporal UI {endpoints.temporal_ui}")
    print_text(f"Page        {page}")
    print_text("ready; `holdfast down` stops the services that were started here")


def down_command(*, json_output: bool) -> None:
    """Stop the page, the worker and the embedded services; all data stay."""
    stopped = stop_services(load_command_settings())
    if json_output:
        print_json({"stopped": stopped})
    else:
        print_text(f"stopped {', '.join(stopped)}" if stopped else "nothing was running")


def doctor_command(*, json_output: bool) -> None:
    """Check every part that a job needs; the exit code is 1 if a part has a fault."""
    configure_quiet_logs()
    results = asyncio.run(run_health_checks())
    if json_output:
        print_json(results)
    else:
        for result in results:
            print_text(_line(result))
    if any(result.status == "failed" for result in results):
        raise typer.Exit(1)


def _line(result: HealthCheckResult) -> str:
    line = f"{_STATUS_MARKS[result.status]} {result.part}: {result.detail}"
    return f"{line}\n     -> {result.remedy}" if result.remedy else line
