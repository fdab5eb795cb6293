"""What `corpus add` and `corpus remove` do."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from holdfast.adding import add, added_lines
from holdfast.cli.corpus_words import checked_collection, checked_pairs
from holdfast.cli.installation import attached
from holdfast.cli.output import counted, print_json, print_text, printable, say
from holdfast.client import connected
from holdfast.embedding import Embedded
from holdfast.ingest import Ingested, Manner, Tell
from holdfast.services.lifecycle import up
from holdfast.settings import load_settings
from models.errors import BadInput, NotFound
from storage.corpus import Corpus

_INTERRUPTED = 130
_LINES = 20  # of progress, where there is no terminal


def add_command(
    path: Path, collection: str | None, meta: Sequence[str], *, json_output: bool
) -> int:
    """Read and embed what is new; 1 where passages lack vectors, 130 if interrupted."""
    metadata = checked_pairs("--meta", meta)
    name = checked_collection(collection) if collection is not None else None
    if not path.expanduser().exists():
        raise BadInput(f"there is no folder or file {str(path)!r}")

    async def work(tell: Tell) -> tuple[Ingested, Embedded | None]:
        settings = load_settings()
        endpoints = await up(settings, say)
        async with connected(settings, endpoints) as holdfast:
            manner = Manner(metadata=metadata, is_whole=False, tell=tell)
            return await add(settings, holdfast.db, path, name, manner)

    try:
        with _progress() as tell:
            ingested, embedded = asyncio.run(work(tell))
    except KeyboardInterrupt:
        say("interrupted; what was read and embedded stays, the same command goes on from there")
        return _INTERRUPTED
    if json_output:
        skipped = [{"path": each, "reason": reason} for each, reason in ingested.skipped]
        shown = asdict(ingested) | {"skipped": skipped}
        print_json(shown | {"embedded": asdict(embedded) if embedded else None})
    else:
        for line in added_lines(ingested, embedded):
            print_text(printable(line))
    return 1 if embedded is not None and embedded.fault else 0


def remove_command(
    collection: str, address: str | None, *, is_sure: bool, json_output: bool
) -> None:
    """Remove what is named, once somebody said that it is meant."""

    async def work() -> int:
        async with attached(needs_temporal=False) as holdfast:
            corpus = Corpus(holdfast.db)
            known = [each.address for each in await corpus.documents(collection)]
            _check_known(collection, address, known, await corpus.collections())
            what = f"{address!r} of" if address else f"{counted(len(known), 'document')}, all of"
            if not is_sure:
                await asyncio.to_thread(_ask, f"remove {what} collection {collection!r}?")
            async with corpus.writing(collection) as writer:
                return await (writer.remove(address) if address else writer.keep_only(()))

    removed = asyncio.run(work())
    if json_output:
        print_json({"collection": collection, "removed": removed})
    else:
        print_text(f"removed {counted(removed, 'document')}; what jobs found in them stays")


def _check_known(
    collection: str, address: str | None, known: Sequence[str], collections: Sequence[str]
) -> None:
    if not known:
        listed = ", ".join(collections) or "none yet"
        raise NotFound(f"there is no collection {collection!r}; collections: {listed}")
    if address is not None and address not in known:
        raise NotFound(
            f"there is no document {address!r} in collection {collection!r}; "
            f"`holdfast corpus list {collection}` shows those there are"
        )


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise BadInput(f"{question} nobody can be asked here: add --yes if that is meant")
    if not typer.confirm(question, err=True):
        raise BadInput("nothing was removed")


@contextmanager
def _progress() -> Iterator[Tell]:
    """A bar on a terminal; where there is none, now and then a line."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bars = {what: progress.add_task(what, visible=False) for what in ("reading", "embedding")}

        def tell(what: str, done: int, total: int) -> None:
            progress.update(bars[what], completed=done, total=total, visible=True)

        yield tell


class _Lines:
    """A line on standard error for each further twentieth of a long work."""

    def __init__(self) -> None:
        self._said: dict[str, int] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        share = done * _LINES // max(1, total)
        if total > _LINES and share > self._said.get(what, 0):
            self._said[what] = share
            say(f"{what} {done:,} of {total:,}")
