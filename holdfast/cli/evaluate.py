"""`holdfast eval`: the same questions under several presets, as a table, a figure and JSON."""

import asyncio
import json
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from models.errors import BadInput

if TYPE_CHECKING:
    from evals.comparison import Comparison
    from evals.records import Records, Run
    from holdfast.settings import Settings
    from roles.endpoint import EndpointModel

_KEPT = "runs.jsonl"


@dataclass(frozen=True)
class Wanted:
    """What the command was given."""

    presets: tuple[str, ...]
    data: Path
    out: Path
    limit: int | None
    model: str | None
    judge: str | None
    changes: tuple[str, ...]
    slots: int
    skip: int = 0


def evaluate(
    presets: Annotated[str, typer.Option(help="Their names, with commas between them.")],
    data: Annotated[Path, typer.Option(help="Questions in HotpotQA's or MuSiQue's format.")],
    out: Annotated[
        Path, typer.Option(help="A folder for what is kept; the same one again goes on.")
    ] = Path("eval"),
    limit: Annotated[int | None, typer.Option(min=1, help="So many questions at most.")] = None,
    skip: Annotated[int, typer.Option(min=0, help="Leave the first so many out.")] = 0,
    model: Annotated[
        str | None, typer.Option(help="A model of your endpoint, or `extractive`.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="A model that judges the answers which no rule can.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change one setting of all presets."),
    ] = None,
    slots: Annotated[int, typer.Option("--jobs", min=1, max=100, help="Jobs in flight.")] = 4,
    json_output: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Work the same questions under several presets, and compare what came out."""
    names = tuple(name.strip() for name in presets.split(",") if name.strip())
    wanted = Wanted(
        names, data, out.absolute(), limit, model, judge, tuple(settings or ()), slots, skip
    )
    evaluate_command(wanted, json_output=json_output)


def evaluate_command(wanted: Wanted, *, json_output: bool) -> None:
    """Run the comparison in an installation of its own, and write what came out.

    Raises:
        BadInput: the data, a preset or a setting cannot be used, or what the folder holds was run
            under other conditions.
    """
    from evals.records import Records
    from evals.summary import figures, ratio
    from evals.tables import lines, svg
    from holdfast.cli.output import print_text, say
    from holdfast.settings import load_settings

    settings = load_settings()
    comparison = _comparison(wanted, settings)
    records = Records.open(wanted.out / _KEPT)
    records.begin(comparison.arms)
    try:
        runs = asyncio.run(_compared(wanted, settings, comparison, records))
    except (KeyboardInterrupt, asyncio.CancelledError):
        say(f"stopped; the same command goes on from what is kept in {wanted.out}")
        raise typer.Exit(130) from None
    found, compared = figures(runs), ratio(runs)
    content = {
        "figures": [each.model_dump(mode="json") for each in found],
        "ratio": compared.model_dump(mode="json") if compared else None,
    }
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (wanted.out / "figures.json").write_text(f"{text}\n", encoding="utf-8")
    title = f"{wanted.data.name}, {len(comparison.questions)} questions"
    (wanted.out / "figures.svg").write_text(svg(found, title), encoding="utf-8")
    print_text(text if json_output else "\n".join(lines(found, compared)))
    say(f"kept in {wanted.out}: {_KEPT}, figures.json, figures.svg")


def _comparison(wanted: Wanted, settings: "Settings") -> "Comparison":
    """All that can be checked before anything is started."""
    from evals.comparison import Comparison, arms_of
    from evals.questions import read_questions
    from holdfast.cli.requests import changes_of

    if not wanted.presets:
        raise BadInput("--presets is empty; name some, as in --presets kpi-chain,full-horizon")
    if not wanted.data.is_file():
        raise BadInput(f"there is no file {str(wanted.data)!r}; --data takes questions")
    questions = read_questions(wanted.data)[wanted.skip :][: wanted.limit]
    _check_ids(questions)
    model = wanted.model or settings.model
    changes = changes_of(wanted.changes)
    arms = arms_of(wanted.presets, model, wanted.judge or "", changes)
    for name in (model, wanted.judge):
        _check_endpoint(name, settings)
    return Comparison(questions, arms, slots=wanted.slots)


def _check_ids(questions: Sequence[object]) -> None:
    ids = [getattr(each, "id", "") for each in questions]
    if len(set(ids)) < len(ids):
        twice = next(each for at, each in enumerate(ids) if each in ids[:at])
        raise BadInput(f"the id {twice!r} is given to two questions; each needs one of its own")


def _check_endpoint(model: str | None, settings: "Settings") -> None:
    from models.jobs import EXTRACTIVE

    if model and model != EXTRACTIVE and not settings.has_model_endpoint:
        raise BadInput(
            f"model {model!r} needs an endpoint: set OPENAI_API_KEY, or OPENAI_BASE_URL for your "
            f"own server, or use --model {EXTRACTIVE}, which needs neither"
        )


async def _compared(
    wanted: Wanted, settings: "Settings", comparison: "Comparison", records: "Records"
) -> "list[Run]":
    """The runs, by a worker in this process at services in the folder, which end with it."""
    from evals.comparison import Bench
    from evals.engine import working
    from holdfast.cli.output import say
    from holdfast.logs import configure_logs
    from holdfast.services.lifecycle import down, up

    configure_logs("WARNING")
    this = asyncio.current_task()
    assert this is not None, "asyncio.run makes one"
    # The services run detached: without this, `kill` would leave them behind.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    own = settings.model_copy(update={"home": wanted.out / "home", "config_file": None})
    try:
        endpoints = await up(own, say, worker=False)
        model = _judge(wanted, settings)
        async with working(own.home, endpoints) as holdfast:
            return await Bench(holdfast, records, model, say).compare(comparison)
    finally:
        await asyncio.to_thread(down, own)


def _judge(wanted: Wanted, settings: "Settings") -> "EndpointModel | None":
    from roles.endpoint import EndpointModel

    if not wanted.judge:
        return None
    return EndpointModel(base_url=settings.openai_base_url, api_key=settings.openai_api_key)
