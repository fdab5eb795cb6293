"""Run a comparison: an installation of its own, the metered endpoint, and the contestants."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from holdfast.evals.measures.evaluation_engine import running_worker
from holdfast.evals.peers.contestant_names import open_contestants
from holdfast.evals.peers.metered_endpoint import MeteredEndpoint, ModelEndpoint
from holdfast.evals.peers.peer_comparison import AnswerJudging, PeerComparison
from holdfast.evals.peers.peer_records import PeerRecords, PeerRun
from holdfast.evals.peers.question_sets import QuestionSet
from holdfast.evals.peers.shared_search import SharedSearch
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from holdfast.services.service_lifecycle import services_of_command
from holdfast.settings import Settings
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_store import CorpusStore


@dataclass(frozen=True)
class ComparisonOptions:
    """What is compared, and where the results are kept."""

    sets: tuple[QuestionSet, ...]
    contestants: tuple[str, ...]
    behind: ModelEndpoint
    out: Path
    questions: frozenset[str] = frozenset()
    """The ids of the questions that are asked; empty: all."""
    judge: str = ""
    slots: int = 2
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By the name of a preset: settings that are changed."""


async def run_comparison(options: ComparisonOptions, settings: Settings) -> list[PeerRun]:
    """Return the results of every contestant and question; services start if one is missing."""
    records = PeerRecords(options.out / "runs")
    kept = [
        records.done(name, question, given, options.behind.model)
        for given in _asked(options)
        for question in given.questions
        for name in options.contestants
    ]
    if all(kept):
        return [run for run in kept if run is not None]
    return await _run_with_services(options, settings, records)


async def _run_with_services(
    options: ComparisonOptions, settings: Settings, records: PeerRecords
) -> list[PeerRun]:
    home = options.out.absolute() / "home"
    own = settings.model_copy(update={"home": home, "config_file": None})
    async with (
        services_of_command(own, _say) as endpoints,
        _opened_database(endpoints.database_url) as db,
    ):
        search = SharedSearch(CorpusStore(db))
        metered = MeteredEndpoint(options.behind, search, options.out / "exchanges")
        async with (
            serving(metered.app) as address,
            running_worker(home, endpoints, model_url=f"{address}/v1") as holdfast,
        ):
            comparison = PeerComparison(
                open_contestants(options.contestants, holdfast, search, options.settings),
                metered,
                address,
                records,
                _judging(options),
                _say,
            )
            return await comparison.compare(_asked(options), options.slots)


def _asked(options: ComparisonOptions) -> list[QuestionSet]:
    if not options.questions:
        return list(options.sets)
    return [
        replace(each, questions=tuple(q for q in each.questions if q.id in options.questions))
        for each in options.sets
    ]


def _judging(options: ComparisonOptions) -> AnswerJudging:
    if not options.judge:
        return AnswerJudging()
    behind = options.behind
    model = EndpointModel(base_url=behind.base_url, api_key=behind.api_key)
    return AnswerJudging(model, options.judge)


@asynccontextmanager
async def _opened_database(url: str) -> AsyncIterator[Database]:
    db = Database(url)
    try:
        yield db
    finally:
        await db.close()


class _QuietServer(uvicorn.Server):
    """A server that leaves the command's signals alone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncIterator[str]:
    """Serve the application on a free port of this machine; yields its address."""
    # Named as TCP, or asyncio leaves Nagle on: 40 ms an answer.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, log_level="critical", ws="none", lifespan="on")
    server = _QuietServer(config)
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
