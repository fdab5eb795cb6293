"""Embed the passages of all collections in a worker's spare time, with the model on its machine.

Each group of passages is stored at once, so a worker that is stopped or killed loses a few
seconds of work, and the next one goes on. Of one collection only one worker embeds at a time.
"""

import asyncio
from dataclasses import dataclass

import structlog

from holdfast.configuration.embedding_settings import Embedder, create_local_embedder
from holdfast.models.errors import BadConfiguration, StorageAway
from holdfast.settings import Settings
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.spare_time_vectors import (
    collections_to_embed,
    embedding_claimed,
    store_passage_vectors,
    waiting_passages,
)

log = structlog.get_logger(__name__)

INTERVAL_S = 5.0
_WITHOUT_PGVECTOR_S = 600.0


async def embed_in_spare_time(settings: Settings, db: Database) -> None:
    """Embed until cancelled; return at once if this machine has no model of its own to use."""
    embedder = create_local_embedder(settings)
    if embedder is None:
        return
    try:
        await SpareTimeEmbedding(db, embedder).repeat()
    finally:
        await embedder.aclose()


@dataclass(frozen=True)
class SpareTimeEmbedding:
    """Embeds passages without a vector, collection by collection."""

    db: Database
    embedder: Embedder
    interval_s: float = INTERVAL_S

    async def repeat(self) -> None:
        """Look for passages without a vector every few seconds, until cancelled."""
        while True:
            pause = self.interval_s
            try:
                await self.embed_all()
            except StorageAway:
                pass
            except BadConfiguration as missing:
                log.warning("vectors.not_possible", reason=str(missing))
                pause = _WITHOUT_PGVECTOR_S
            except Exception:
                log.exception("vectors.failed")
                pause = _WITHOUT_PGVECTOR_S
            await asyncio.sleep(pause)

    async def embed_all(self) -> int:
        """Embed what has no vector and is not embedded by another worker; return how many.

        Raises:
            BadConfiguration: pgvector is missing.
            StorageAway: PostgreSQL does not answer.
        """
        stored = 0
        for collection in await collections_to_embed(self.db, self.embedder.model):
            async with embedding_claimed(self.db, collection) as is_ours:
                if is_ours:
                    stored += await self._embed(collection)
        return stored

    async def _embed(self, collection: str) -> int:
        after = stored = 0
        model = self.embedder.model
        size = self.embedder.config.batch_size
        while group := await waiting_passages(self.db, collection, model, after=after, limit=size):
            vectors = await self.embedder.passages([passage.text for passage in group])
            ids = [passage.passage_id for passage in group]
            await store_passage_vectors(self.db, collection, model, ids, vectors)
            after = ids[-1]
            stored += len(group)
        log.info("vectors.stored", collection=collection, passages=stored)
        return stored
