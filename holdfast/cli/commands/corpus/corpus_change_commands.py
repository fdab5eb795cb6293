"""Implement `holdfast corpus add` and `holdfast corpus remove`."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from holdfast.cli.commands.jobs.job_preparation import EXIT_INTERRUPTED
from holdfast.cli.installation_access import run_with_client
from holdfast.cli.options.command_settings import load_command_settings
from holdfast.cli.render.terminal_output import (
    count_with_noun,
    print_json,
    print_progress,
    print_text,
)
from holdfast.cli.service_start import start_installation
from holdfast.client import Holdfast, open_client
from holdfast.corpus.collection_removal import document_addresses, remove_documents
from holdfast.corpus.corpus_update import add_documents, ingestion_lines
from holdfast.corpus.folder_ingestion import IngestOptions, IngestResult, ProgressCallback
from holdfast.corpus.passage_embedding import EmbeddingResult
from holdfast.models.errors import BadInput

_MAX_PROGRESS_LINES = 20
"""Without a terminal."""


def add_documents_command(
    path: Path, collection: str | None, options: IngestOptions, *, json_output: bool
) -> int:
    """Read and embed new documents; 1 if passages lack vectors, 130 if interrupted."""

    async def add(on_progress: ProgressCallback) -> tuple[IngestResult, EmbeddingResult | None]:
        settings = load_command_settings()
        endpoints = await start_installation(settings)
        async with open_client(settings, endpoints) as holdfast:
            shown = replace(options, tell=on_progress)
            return await add_documents(settings, holdfast.db, path, collection, shown)

    try:
        with _progress() as on_progress:
            ingested, embedded = asyncio.run(add(on_progress))
    except KeyboardInterrupt:
        print_progress(
            "interrupted; documents that were read and embedded stay, the same command continues"
        )
        return EXIT_INTERRUPTED
    if json_output:
        skipped = [{"path": file, "reason": reason} for file, reason in ingested.skipped]
        document = asdict(ingested) | {"skipped": skipped}
        print_json(document | {"embedded": asdict(embedded) if embedded else None})
    else:
        for line in ingestion_lines(ingested, embedded):
            print_text(line)
    return 1 if embedded is not None and embedded.fault else 0


def remove_documents_command(
    collection: str, address: str | None, *, is_sure: bool, json_output: bool
) -> None:
    """Remove the collection or one document of it, once the user has confirmed it."""

    async def remove(holdfast: Holdfast) -> int:
        addresses = await document_addresses(holdfast, collection, address)
        if not is_sure:
            part = (
                repr(address) if address else f"all {count_with_noun(len(addresses), 'document')}"
            )
            await asyncio.to_thread(_confirm, f"remove {part} of collection {collection!r}?")
        return await remove_documents(holdfast, collection, address)

    removed = run_with_client(remove)
    if json_output:
        print_json({"collection": collection, "removed": removed})
    else:
        print_text(
            f"removed {count_with_noun(removed, 'document')}; jobs keep what they found there"
        )


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise BadInput(f"{question} There is no terminal to ask: add --yes to confirm")
    if not typer.confirm(question, err=True):
        raise BadInput("nothing was removed")


@contextmanager
def _progress() -> Iterator[ProgressCallback]:
    """Show progress as a bar on a terminal, else as some lines."""
    if not sys.stderr.isatty():
        yield _ProgressLines()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bars = {name: progress.add_task(name, visible=False) for name in ("reading", "embedding")}

        def show(activity: str, done: int, total: int) -> None:
            progress.update(bars[activity], completed=done, total=total, visible=True)

        yield show


class _ProgressLines:
    """A line on standard error for each further twentieth of a long activity."""

    def __init__(self) -> None:
        self._printed: dict[str, int] = {}

    def __call__(self, activity: str, done: int, total: int) -> None:
        share = done * _MAX_PROGRESS_LINES // max(1, total)
        if total > _MAX_PROGRESS_LINES and share > self._printed.get(activity, 0):
            self._printed[activity] = share
            print_progress(f"{activity} {done:,} of {total:,}")
