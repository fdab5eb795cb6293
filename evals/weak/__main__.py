"""Play a weak model against the presets `loop` and `research`; needs no model and no key.

    python -m holdfast.evals.weak [SET ...] [--seeds 3] [--out FOLDER]

docs/evaluation.md says what is drawn, and what came out.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from holdfast.configuration.json_logs import configure_logs
from holdfast.evals.command_exit import command_exit
from holdfast.evals.peers.exchange_records import ExchangeRecords
from holdfast.evals.peers.metered_endpoint import ModelEndpoint
from holdfast.evals.peers.peer_run import ComparisonOptions, run_comparison, serving
from holdfast.evals.peers.question_sets import SET_FOLDER, QuestionSet, read_question_set
from holdfast.evals.weak.reader_notes import recorded_notes
from holdfast.evals.weak.weak_figures import WeakRun, weak_lines, weak_run
from holdfast.evals.weak.weak_reader import WeakReader
from holdfast.models.errors import BadInput
from holdfast.planning.text.token_estimates import estimate_tokens
from holdfast.settings import load_settings

_PRESETS = ("loop", "research")
_SETS = ("docs", "musique-a", "musique-b")
_MODEL = "weak"
_SETTINGS = {"research": {"agent_method": "loop"}}
"""The reader plays agents as loops."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Play all seeds, print the figures, and return the exit code: 1 if an invention came out."""
    parser = argparse.ArgumentParser(prog="python -m holdfast.evals.weak", description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(_SETS), help="question sets with notes")
    parser.add_argument("--data", type=Path, help="the file of rows, if the set's is elsewhere")
    parser.add_argument("--seeds", type=int, default=3, help="how often each question is played")
    parser.add_argument("--slots", type=int, default=2, help="questions in flight")
    parser.add_argument("--out", type=Path, default=Path("build/weak"), help="kept results")
    chosen = parser.parse_args(arguments)
    configure_logs("ERROR")
    again = f"stopped; the same command continues from {chosen.out}"
    return command_exit(lambda: _play(chosen), again)


def _play(chosen: argparse.Namespace) -> int:
    sets = [read_question_set(SET_FOLDER / f"{name}.toml", chosen.data) for name in chosen.sets]
    runs = [
        run
        for seed in range(1, chosen.seeds + 1)
        for run in asyncio.run(_played(sets, seed, chosen.out / str(seed), chosen.slots))
    ]
    rows = [run.model_dump(mode="json") for run in runs]
    (chosen.out / "figures.json").write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
    print("\n".join(weak_lines(runs)))
    return 1 if any(run.delivered for run in runs) else 0


async def _played(sets: Sequence[QuestionSet], seed: int, out: Path, slots: int) -> list[WeakRun]:
    notes = {each.question: each for each in recorded_notes()}
    asked = [question for given in sets for question in given.questions]
    missing = [each.id for each in asked if each.text not in notes]
    if missing:
        raise BadInput(f"no strong reader took notes for the question {missing[0]!r}")
    texts = {each.id: each.text for each in asked}
    async with _serving(WeakReader(tuple(notes.values()), seed)) as behind:
        options = ComparisonOptions(
            sets=tuple(sets),
            contestants=_PRESETS,
            behind=behind,
            out=out,
            slots=slots,
            settings=_SETTINGS,
        )
        runs = await run_comparison(options, load_settings())
    return [
        weak_run(
            run,
            seed,
            ExchangeRecords(out / "exchanges" / run.contestant / run.question).all,
            notes[texts[run.question]],
        )
        for run in runs
    ]


@asynccontextmanager
async def _serving(reader: WeakReader) -> AsyncIterator[ModelEndpoint]:
    """Serve the reader as an OpenAI-compatible endpoint."""

    async def complete(request: Request) -> JSONResponse:
        body = await request.json()
        try:
            message = reader.reply(body)
        except BadInput as error:
            return JSONResponse({"error": {"message": str(error)}}, 400)
        usage = {
            "prompt_tokens": estimate_tokens(json.dumps([body["messages"], body.get("tools")])),
            "completion_tokens": estimate_tokens(json.dumps(message)),
        }
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {"index": 0, "finish_reason": finish, "message": message}
        reply = {"id": "weak", "object": "chat.completion", "created": 0, "model": _MODEL}
        return JSONResponse({**reply, "choices": [choice], "usage": usage})

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    async with serving(app) as address:
        yield ModelEndpoint(f"{address}/v1", _MODEL)


if __name__ == "__main__":
    sys.exit(main())
