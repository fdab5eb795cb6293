"""Implement `holdfast eval`: run questions under several presets and compare results."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from holdfast.models.errors import BadInput

if TYPE_CHECKING:
    from holdfast.evals.presets.comparison_summary import PresetFigures
    from holdfast.evals.presets.preset_comparison import ArmVariant, PresetComparison
    from holdfast.evals.presets.run_records import QuestionRun, RunRecords
    from holdfast.roles.endpoints.chat_endpoint import EndpointModel
    from holdfast.settings import Settings

_RECORDS_FILE = "runs.jsonl"
_CALIBRATION_FILE = "calibration.toml"


@dataclass(frozen=True)
class EvaluationOptions:
    """The options of the command."""

    presets: tuple[str, ...]
    data: Path
    out: Path
    limit: int | None
    model: str | None
    judge: str | None
    changes: tuple[str, ...]
    slots: int
    skip: int = 0
    calibrate: bool = False
    arms: tuple[str, ...] = ()
    """Variants, each `NAME: key=value, key=value`."""
    repeats: int = 1


def evaluate_command(options: EvaluationOptions, *, json_output: bool) -> None:
    """Run the comparison in an installation of its own, and write its results.

    Raises:
        BadInput: the data, a preset or a setting cannot be used, or the results in the folder come
            from other conditions.
    """
    from holdfast.cli.options.command_settings import load_command_settings
    from holdfast.cli.render.terminal_output import print_progress, print_text
    from holdfast.evals.presets.comparison_output import (
        comparison_fields,
        comparison_svg,
        comparison_table_lines,
    )
    from holdfast.evals.presets.comparison_summary import preset_figures, token_ratio
    from holdfast.evals.presets.run_records import RunRecords

    settings = load_command_settings()
    comparison = _comparison(options, settings)
    records = RunRecords.open(options.out / _RECORDS_FILE)
    records.begin(comparison.arms)
    try:
        runs = asyncio.run(_run_comparison(options, settings, comparison, records))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print_progress(f"stopped; the same command continues from the results in {options.out}")
        raise typer.Exit(130) from None
    figures, ratio = preset_figures(runs), token_ratio(runs)
    content = {
        "comparison": comparison.hash,
        **comparison_fields(figures, ratio),
    }
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (options.out / "figures.json").write_text(f"{text}\n", encoding="utf-8")
    title = f"{options.data.name}, {len(comparison.questions)} questions, {comparison.hash}"
    (options.out / "figures.svg").write_text(comparison_svg(figures, title), encoding="utf-8")
    print_text(text if json_output else "\n".join(comparison_table_lines(figures, ratio)))
    if options.calibrate:
        _write_calibration(options, comparison.arms[0].model, runs)
    _print_costs(figures, comparison, settings)
    print_progress(f"results are in {options.out}: {_RECORDS_FILE}, figures.json, figures.svg")
    print_progress(f"comparison {comparison.hash}: arms, judge, questions and repeats")


def _print_costs(
    figures: "Sequence[PresetFigures]", comparison: "PresetComparison", settings: "Settings"
) -> None:
    """Print what a question and a right answer cost under each arm, where the price is known."""
    from holdfast.cli.render.terminal_output import print_progress
    from holdfast.configuration.price_settings import read_prices

    prices = read_prices(settings.config_file)
    model = comparison.arms[0].model
    price = prices.of(model)
    if price is None:
        print_progress(f"costs are not known: holdfast.toml has no price of {model!r}")
        return
    for each in figures:
        cost = price.of(
            input_tokens=round(each.input_tokens), output_tokens=round(each.output_tokens)
        )
        right = ""
        if each.exact_match:
            share = Decimal(str(each.exact_match)) / 100
            right = f", {cost / share:.4f} a right answer"
        print_progress(f"{each.preset}: {cost:.4f} {prices.currency} a question{right}")


def _write_calibration(
    options: EvaluationOptions, model: str, runs: "Sequence[QuestionRun]"
) -> None:
    """Write the model's calibration next to the results, as a table for `holdfast.toml`."""
    from holdfast.cli.render.terminal_output import print_progress
    from holdfast.evals.measures.calibration_fit import calibration_lines, fit_route_table

    rated = [run.rated for run in runs if run.rated is not None]
    lines = calibration_lines(model, fit_route_table(rated), rated)
    path = options.out / _CALIBRATION_FILE
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print_progress(f"the calibration of {model!r} is in {path}: copy its table into holdfast.toml")


def _comparison(options: EvaluationOptions, settings: "Settings") -> "PresetComparison":
    """The comparison, checked as far as that is possible before a service is started."""
    from holdfast.evals.measures.question_files import read_questions
    from holdfast.evals.presets.preset_comparison import PresetComparison, preset_arms
    from holdfast.jobs.model_checks import check_models
    from holdfast.planning.strategies.written_settings import parse_setting_changes

    if not options.presets:
        raise BadInput("--presets is empty; name some, as in --presets kpi-chain,full-horizon")
    if not options.data.is_file():
        raise BadInput(f"there is no file {str(options.data)!r}; --data takes a file of questions")
    questions = read_questions(options.data)[options.skip :][: options.limit]
    _check_ids(questions)
    model = options.model or settings.model
    changes = parse_setting_changes(options.changes)
    variants = [_variant(text) for text in options.arms]
    _check_variants([each.name for each in variants])
    arms = preset_arms(options.presets, model, options.judge or "", changes, variants)
    names = [model, *([options.judge] if options.judge else [])]
    check_models(names, _own_settings(options, settings))
    return PresetComparison(questions, arms, slots=options.slots, repeats=options.repeats)


def _variant(text: str) -> "ArmVariant":
    """Return the arm of `NAME: key=value, key=value`."""
    from holdfast.evals.presets.preset_comparison import ArmVariant
    from holdfast.planning.strategies.written_settings import parse_setting_changes

    name, colon, changes = text.partition(":")
    if not colon or not name.strip() or not changes.strip():
        raise BadInput(
            f"--arm takes a name and settings, as in 'no verification: verify=false', not {text!r}"
        )
    return ArmVariant(name.strip(), parse_setting_changes(changes.split(",")))


def _check_variants(names: Sequence[str]) -> None:
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise BadInput(f"two arms are named {repeated!r}; give each a name of its own")


def _own_settings(options: EvaluationOptions, settings: "Settings") -> "Settings":
    """The settings of the comparison's worker, which reads no holdfast.toml."""
    return settings.model_copy(update={"home": options.out / "home", "config_file": None})


def _check_ids(questions: Sequence[object]) -> None:
    ids = [getattr(question, "id", "") for question in questions]
    if len(set(ids)) < len(ids):
        repeated = next(name for at, name in enumerate(ids) if name in ids[:at])
        raise BadInput(f"two questions have the id {repeated!r}; give each an id of its own")


async def _run_comparison(
    options: EvaluationOptions,
    settings: "Settings",
    comparison: "PresetComparison",
    records: "RunRecords",
) -> "list[QuestionRun]":
    """The runs, by a worker in this process; its services in the folder end with the command."""
    from holdfast.cli.render.terminal_output import print_progress
    from holdfast.configuration.json_logs import configure_logs
    from holdfast.evals.measures.evaluation_engine import running_worker
    from holdfast.evals.presets.preset_comparison import ComparisonRunner
    from holdfast.services.service_lifecycle import services_of_command

    configure_logs("WARNING")
    own = _own_settings(options, settings)
    model = _open_judge(options, settings)
    async with (
        services_of_command(own, print_progress) as endpoints,
        running_worker(own.home, endpoints) as holdfast,
    ):
        return await ComparisonRunner(holdfast, records, model, print_progress).compare(comparison)


def _open_judge(options: EvaluationOptions, settings: "Settings") -> "EndpointModel | None":
    from holdfast.roles.endpoints.chat_endpoint import EndpointModel

    if not options.judge:
        return None
    return EndpointModel(base_url=settings.openai_base_url, api_key=settings.openai_api_key)
