"""Declare `holdfast` and the commands that start, stop, check and serve the installation."""

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JsonOption


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        typer.echo(f"holdfast {version('holdfast')}")
        raise typer.Exit


def holdfast(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """A durable research engine: a question in, a cited report out."""


def agents(json_output: JsonOption = False) -> None:
    """List the agents by tier, each with the tools that it can use."""
    from holdfast.cli.commands.agent_commands import agents_command

    agents_command(json_output=json_output)


def serve(
    host: Annotated[
        str, typer.Option(help="The address to listen at; beyond this computer at your own risk.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 takes a free port.")] = 8765,
    certificate: Annotated[
        Path | None,
        typer.Option(help="A PEM file with the certificate and its chain: speak TLS.", exists=True),
    ] = None,
    certificate_key: Annotated[
        Path | None, typer.Option(help="A PEM file with the certificate's key.", exists=True)
    ] = None,
    root_path: Annotated[
        str | None,
        typer.Option(help="The path under which a proxy serves this server, such as /holdfast."),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Serve the page and the HTTP API: submit, follow, steer and read jobs."""
    from holdfast.cli.commands.api_commands import serve_command

    serve_command(host, port, certificate, certificate_key, root_path, json_output=json_output)


def open_page(
    job: Annotated[
        str | None, typer.Argument(help="The job to show, or the beginning of its id.")
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser if there is a desktop.")
    ] = True,
    json_output: JsonOption = False,
) -> None:
    """Print the page's address, which signs a browser in once, and open it."""
    from holdfast.cli.commands.page_commands import open_command

    open_command(job, browser=browser, json_output=json_output)


def mcp() -> None:
    """Serve Holdfast to an MCP host over standard input and output; hosts start this themselves."""
    from holdfast.cli.commands.mcp_commands import mcp_command

    mcp_command()


def up(json_output: JsonOption = False) -> None:
    """Start the embedded PostgreSQL, Temporal, worker and page, or attach to them."""
    from holdfast.cli.commands.service_commands import up_command

    up_command(json_output=json_output)


def down(json_output: JsonOption = False) -> None:
    """Stop everything that `up` started; jobs and histories stay."""
    from holdfast.cli.commands.service_commands import down_command

    down_command(json_output=json_output)


def doctor(json_output: JsonOption = False) -> None:
    """Check each part of the installation, and say how to repair what is broken."""
    from holdfast.cli.commands.service_commands import doctor_command

    doctor_command(json_output=json_output)
