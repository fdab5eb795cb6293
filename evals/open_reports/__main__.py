"""Research the questions of a public set, and score the reports by rules and by a judge model.

    python -m holdfast.evals.open_reports FILE [--presets research,vmao] [--model M] [--judge J]
                    [--limit N] [--cap TOKENS] [--config holdfast.toml] [--out FOLDER] [--json]

FILE is one of DeepResearch Bench (criteria.jsonl), DeepResearch Bench II, DRACO, FRAMES or
BrowseComp-Plus (decrypted), as published. Without --judge only rules score. The endpoint is the one
that OPENAI_BASE_URL names; --config names the tools, such as a web search. The same command
continues after the last score in --out. docs/evaluation.md says what is measured.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from holdfast.configuration.json_logs import configure_logs
from holdfast.evals.command_exit import command_exit
from holdfast.evals.measures.evaluation_engine import running_worker
from holdfast.evals.open_reports.open_runs import (
    OpenRunOptions,
    ReportScore,
    run_open_questions,
)
from holdfast.evals.open_reports.open_table import open_figures, open_lines
from holdfast.evals.open_reports.public_sets import read_open_questions
from holdfast.evals.open_reports.report_judge import ReportJudge
from holdfast.evals.presets.preset_comparison import preset_arms
from holdfast.models.errors import BadInput
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from holdfast.services.service_lifecycle import services_of_command
from holdfast.settings import load_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, score and print; the process's exit code."""
    chosen = _arguments(arguments)
    configure_logs("ERROR")
    again = f"stopped; the same command continues from {chosen.out}"
    return command_exit(lambda: _run(chosen), again)


def _run(chosen: argparse.Namespace) -> int:
    wanted = _options(chosen)
    scores = asyncio.run(_scored(chosen, wanted))
    if not scores:
        print("no question was scored: the cap is spent", file=sys.stderr)
        return 1
    figures = open_figures(scores)
    rows = [each.model_dump(mode="json") for each in figures]
    text = json.dumps(rows, indent=1, ensure_ascii=False)
    (wanted.out / "figures.json").write_text(f"{text}\n", encoding="utf-8")
    print(text if chosen.json else "\n".join(open_lines(figures)))
    return 0


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m holdfast.evals.open_reports",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--presets", default="research")
    parser.add_argument("--model", help="the model of the jobs; default: that of the settings")
    parser.add_argument("--judge", help="the model that judges")
    parser.add_argument("--repeats", type=int, default=2, help="how often it judges each report")
    parser.add_argument("--seed", type=int, default=1, help="of the order that the judge sees")
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--cap", type=int, help="tokens after which no question begins")
    parser.add_argument("--jobs", type=int, default=2, help="questions in flight")
    parser.add_argument("--config", type=Path, help="a holdfast.toml with the tools of the jobs")
    parser.add_argument("--out", type=Path, default=Path("build/open-reports"))
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def _options(chosen: argparse.Namespace) -> OpenRunOptions:
    if min(chosen.jobs, chosen.repeats) < 1:
        raise BadInput("--jobs and --repeats take a number from 1 on")
    if chosen.config is not None and not chosen.config.is_file():
        raise BadInput(f"there is no file {str(chosen.config)!r}; --config takes a holdfast.toml")
    questions = read_open_questions(chosen.file)[chosen.skip :][: chosen.limit]
    presets = [name.strip() for name in chosen.presets.split(",") if name.strip()]
    model = chosen.model or load_settings().model
    return OpenRunOptions(
        questions,
        preset_arms(presets, model, chosen.judge or "", {}),
        chosen.out.absolute(),
        cap=chosen.cap,
        jobs=chosen.jobs,
        repeats=chosen.repeats,
    )


async def _scored(chosen: argparse.Namespace, wanted: OpenRunOptions) -> list[ReportScore]:
    settings = load_settings()
    own = settings.model_copy(update={"home": wanted.out / "home", "config_file": None})
    judge = None
    if chosen.judge:
        endpoint = EndpointModel(base_url=settings.openai_base_url, api_key=settings.openai_api_key)
        judge = ReportJudge(endpoint, chosen.judge, chosen.seed)
    servers = chosen.config.read_text(encoding="utf-8") if chosen.config else ""
    async with (
        services_of_command(own, _say) as endpoints,
        running_worker(own.home, endpoints, servers=servers) as holdfast,
    ):
        return await run_open_questions(holdfast, wanted, judge, _say)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
