"""Measure how many gold paragraphs a search finds in all paragraphs of question files together.

    python -m holdfast.evals.recall FILE [FILE ...] [--limit N] [--words]

The paragraphs of all files are one collection, each paragraph once. They are embedded as a worker
embeds them, by the model on this machine. Recall at k is the mean share of a question's gold
paragraphs among the first k that `corpus.search` finds for the question. Needs the part `semantic`
with its weights, or `--words`, which measures searches by words alone; starts a PostgreSQL of its
own in a temporary folder.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from holdfast.configuration.embedding_settings import Embedder, create_local_embedder
from holdfast.evals.command_exit import command_exit
from holdfast.evals.measures.question_files import read_questions
from holdfast.evals.recall.recall_figures import measure_recall
from holdfast.models.errors import PartMissing
from holdfast.roles.sentence_model.local_embedder import WEIGHTS_COMMAND
from holdfast.services.servers.temporary_services import temporary_services
from holdfast.settings import Settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures as JSON lines; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--words", action="store_true", help="no vectors: takes half a minute")
    chosen = parser.parse_args(arguments)
    return command_exit(lambda: _measure(chosen))


def _measure(chosen: argparse.Namespace) -> int:
    files = {path.name: read_questions(path)[: chosen.limit] for path in chosen.files}
    embedder = None if chosen.words else _embedder()
    with temporary_services() as services:
        figures, embedding = asyncio.run(measure_recall(services.database_url, embedder, files))
    for each in figures:
        print(json.dumps(asdict(each)))
    if embedding:
        print(json.dumps(embedding))
    return 0


def _embedder() -> Embedder:
    """The model of this machine.

    Raises:
        PartMissing: the part or its weights are not installed.
    """
    embedder = create_local_embedder(Settings(local_embeddings=True, config_file=None))
    if embedder is None:
        raise PartMissing(f"install the part 'semantic', and the weights: {WEIGHTS_COMMAND}")
    return embedder


if __name__ == "__main__":
    sys.exit(main())
