"""Compare Holdfast with its peers over the same questions, documents, search and endpoint.

    python -m holdfast.evals.peers [SET ...] --model M [--contestants A,B] [--out FOLDER]

The endpoint is the one that OPENAI_BASE_URL and OPENAI_API_KEY name. Without a SET, Holdfast's own
documentation is asked about. The same command continues where an earlier run in the folder was
stopped. docs/played-jobs.md says what is measured, and what came out.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from holdfast.configuration.json_logs import configure_logs
from holdfast.evals.command_exit import command_exit
from holdfast.evals.peers.contestant_names import CONTESTANTS, check_contestants
from holdfast.evals.peers.metered_endpoint import ModelEndpoint
from holdfast.evals.peers.peer_records import PeerRun
from holdfast.evals.peers.peer_run import ComparisonOptions, run_comparison
from holdfast.evals.peers.peer_table import table_lines
from holdfast.evals.peers.question_sets import SET_FOLDER, read_question_set
from holdfast.settings import load_settings

_DEFAULT = "pydantic-ai,loop,single-prompt"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison and return the exit code."""
    chosen = _arguments(arguments)
    configure_logs("WARNING")
    again = f"stopped; the same command continues from {chosen.out}"
    return command_exit(lambda: _run(chosen), again)


def _run(chosen: argparse.Namespace) -> int:
    print("\n".join(table_lines(asyncio.run(_compare(chosen)))))
    return 0


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m holdfast.evals.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    sets = ", ".join(sorted(each.stem for each in SET_FOLDER.glob("*.toml")))
    parser.add_argument("sets", nargs="*", default=["docs"], help=f"a set's file, or of {sets}")
    parser.add_argument("--model", required=True, help="the model's name at the endpoint")
    parser.add_argument("--judge", default="", help="a model that judges answers in other words")
    parser.add_argument(
        "--contestants", default=_DEFAULT, help=f"of {', '.join(CONTESTANTS)}; {_DEFAULT}"
    )
    parser.add_argument("--data", type=Path, help="the file of rows, if the set's is elsewhere")
    parser.add_argument("--questions", default="", help="ids; all questions if left out")
    parser.add_argument("--out", type=Path, default=Path("build/peers"), help="kept results")
    parser.add_argument("--slots", type=int, default=2, help="questions in flight")
    return parser.parse_args(arguments)


async def _compare(chosen: argparse.Namespace) -> list[PeerRun]:
    settings = load_settings()
    return await run_comparison(
        ComparisonOptions(
            sets=tuple(read_question_set(_set_path(each), chosen.data) for each in chosen.sets),
            contestants=check_contestants(chosen.contestants.split(",")),
            questions=frozenset(filter(None, chosen.questions.split(","))),
            behind=ModelEndpoint(settings.openai_base_url, chosen.model, settings.openai_api_key),
            judge=chosen.judge,
            out=chosen.out,
            slots=chosen.slots,
        ),
        settings,
    )


def _set_path(given: str) -> Path:
    known = SET_FOLDER / f"{given}.toml"
    return known if known.exists() else Path(given)


if __name__ == "__main__":
    sys.exit(main())
