"""Declare the command `eval` with its options."""

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JsonOption, ModelOption


def evaluate(
    presets: Annotated[str, typer.Option(help="Names of presets, with commas between them.")],
    data: Annotated[Path, typer.Option(help="Questions in HotpotQA's or MuSiQue's format.")],
    out: Annotated[
        Path, typer.Option(help="The folder of results; the same folder again continues.")
    ] = Path("eval"),
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many questions.")] = None,
    skip: Annotated[int, typer.Option(min=0, help="Leave out this many questions first.")] = 0,
    model: ModelOption = None,
    judge: Annotated[
        str | None, typer.Option(help="A model that judges answers that no rule can judge.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change one setting of all presets."),
    ] = None,
    arms: Annotated[
        list[str] | None,
        typer.Option(
            "--arm",
            metavar="NAME: KEY=VALUE",
            help="Another arm of each preset, with settings changed: an ablation.",
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, max=100, help="Run each question this often under each arm.")
    ] = 1,
    slots: Annotated[int, typer.Option("--jobs", min=1, max=100, help="Jobs in flight.")] = 4,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate", help="Fit the confidence of the model's answers on these questions."
        ),
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Run the same questions under several presets, and compare the results."""
    from holdfast.cli.commands.evaluation_commands import EvaluationOptions, evaluate_command

    names = tuple(name.strip() for name in presets.split(",") if name.strip())
    options = EvaluationOptions(
        names,
        data,
        out.absolute(),
        limit,
        model,
        judge,
        tuple(settings or ()),
        slots,
        skip,
        calibrate=calibrate,
        arms=tuple(arms or ()),
        repeats=repeats,
    )
    evaluate_command(options, json_output=json_output)
