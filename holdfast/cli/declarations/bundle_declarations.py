"""Declare the commands that write, check and import bundles."""

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JobArgument, JsonOption

BundleFileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The bundle.")]
KeyOption = Annotated[
    Path | None,
    typer.Option("--key", metavar="PEM", help="The public key that must have signed the bundle."),
]


def export(
    job: JobArgument,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The bundle; JOB.crate.zip by default."),
    ] = None,
    redact: Annotated[
        list[str] | None,
        typer.Option(
            "--redact",
            metavar="WHAT",
            help="Leave out questions, sources or prompts; may be repeated.",
        ),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option("--sign", metavar="PEM", help="Sign with this private Ed25519 key."),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Write an ended job to one file that anybody can read, check and import."""
    from holdfast.cli.commands.bundle_commands import export_command

    export_command(job, out, redact or [], sign, json_output=json_output)


def import_(
    file: BundleFileArgument,
    new_id: Annotated[
        str, typer.Option("--as", metavar="ID", help="Store the job under this id.")
    ] = "",
    key: KeyOption = None,
    json_output: JsonOption = False,
) -> None:
    """Store the job of a bundle, to look at it as at any other job."""
    from holdfast.cli.commands.bundle_commands import import_command

    import_command(file, new_id, key, json_output=json_output)


def verify(
    file: BundleFileArgument, key: KeyOption = None, json_output: JsonOption = False
) -> None:
    """Check a bundle's hashes, signature, sources and quotes; needs no service."""
    from holdfast.cli.commands.bundle_commands import verify_command

    verify_command(file, key, json_output=json_output)


def replay(
    bundles: Annotated[
        list[Path], typer.Argument(metavar="BUNDLE...", help="Bundles, or folders of bundles.")
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a setting; may be repeated."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="Another model.")] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Send the calls that the record does not answer.")
    ] = False,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Also write a JUnit file.")
    ] = None,
    timeout: Annotated[int, typer.Option(min=1, help="Seconds for each job.")] = 600,
    json_output: JsonOption = False,
) -> None:
    """Run jobs of bundles again over their recorded answers, and compare what they claim."""
    from holdfast.cli.commands.replay_command import ReplayOptions, replay_command

    options = ReplayOptions(tuple(set_ or ()), model, live, timeout)
    raise typer.Exit(replay_command(bundles, options, junit, json_output=json_output))
