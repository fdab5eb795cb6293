"""Turn texts into vectors by calling `/v1/embeddings` of an OpenAI-compatible endpoint."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

from openai import AsyncOpenAI, OpenAIError, omit
from pydantic import BaseModel, Field, SecretStr

from holdfast.models.corpus.embeddings_config import EmbeddingsConfig
from holdfast.models.corpus.search_criteria import QueryVector
from holdfast.models.errors import ContextTooLong, HoldfastError, ModelBusy, ModelUnusable
from holdfast.models.text.secret_mask import SecretMask
from holdfast.roles.endpoints.endpoint_address import address_without_secrets
from holdfast.roles.endpoints.endpoint_client import openai_client
from holdfast.roles.endpoints.endpoint_errors import EndpointName, translate_error

_MOST_ATTEMPTS = 4
_LONGEST_PAUSE_S = 60.0
_SHORTEST_CUT = 200  # characters; a text that is cut this short and still too long is given up

Vector = Sequence[float]
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True)
class Embedder:
    """One model at one endpoint; `aclose` closes its connections."""

    config: EmbeddingsConfig
    address: str
    client: AsyncOpenAI
    mask: SecretMask
    pause: Sleep = asyncio.sleep
    is_local = False

    @property
    def model(self) -> str:
        return self.config.model

    async def query(self, text: str) -> QueryVector:
        """The query's vector; one try, since somebody waits for it.

        Raises:
            ModelBusy: the endpoint is down or overloaded.
            ModelRefused: the key or the model is not accepted.
            ModelUnusable: it answers with something else than one vector.
        """
        (vector,) = await self._embed_or_halve([text])
        return QueryVector(model=self.model, values=tuple(vector))

    async def passages(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text, tried again a few times where that may help.

        Of a text that is too long for the model the first half is embedded, or the half of that.

        Raises:
            HoldfastError: as `query`, or ContextTooLong for a text that stays too long.
        """
        for number in range(1, _MOST_ATTEMPTS):
            try:
                return await self._embed_or_halve(texts)
            except ModelBusy as busy:
                named = busy.after.total_seconds() if busy.after is not None else 2.0**number
                if named > _LONGEST_PAUSE_S:
                    raise
                await self.pause(named)
        return await self._embed_or_halve(texts)

    async def aclose(self) -> None:
        await self.client.close()

    async def _embed_or_halve(self, texts: Sequence[str]) -> list[Vector]:
        outcome = await self._post(texts)
        if not isinstance(outcome, Exception):
            return self._read(outcome, len(texts))
        # Raised outside `except`: a cause would take the server's text, and perhaps the key in
        # it, into logs.
        error = self._translated_error(outcome)
        if not isinstance(error, ContextTooLong):
            raise error
        if len(texts) > 1:
            half = len(texts) // 2
            return [
                *await self._embed_or_halve(texts[:half]),
                *await self._embed_or_halve(texts[half:]),
            ]
        if len(texts[0]) <= _SHORTEST_CUT:
            raise error
        return await self._embed_or_halve([texts[0][: len(texts[0]) // 2]])

    async def _post(self, texts: Sequence[str]) -> str | OpenAIError | TimeoutError:
        try:
            # The client's own timeout is per read: a server that trickles would hold us forever.
            async with asyncio.timeout(self.config.timeout_s):
                reply = await self.client.embeddings.with_raw_response.create(
                    model=self.model,
                    input=[text or " " for text in texts],  # some servers refuse an empty one
                    dimensions=self.config.dimension or omit,
                    encoding_format="float",  # the one form that every server knows
                )
                return reply.text
        except (OpenAIError, TimeoutError) as error:
            return error

    def _translated_error(self, error: OpenAIError | TimeoutError) -> HoldfastError:
        table = "in [embeddings]"
        at = EndpointName(
            self.address,
            key=self.config.key_variable or f"`key_env` {table}",
            url=f"`url` {table}" if self.config.url else "OPENAI_BASE_URL",
        )
        told = translate_error(
            error, at=at, model=self.model, mask=self.mask, now=datetime.now(UTC)
        )
        told.args = (f"embedding {told} (see [embeddings] in holdfast.toml)",)
        return told

    def _read(self, body: str, count: int) -> list[Vector]:
        where = f"embedding model {self.model!r} at {self.address}"
        try:
            data = _Reply.model_validate(json.loads(body)).data
        except (ValueError, RecursionError):
            raise ModelUnusable(
                f"{where} did not answer with embeddings; check `url` in [embeddings], which often "
                "ends in /v1"
            ) from None
        vectors = [each.embedding for each in sorted(data, key=lambda each: each.index)]
        sizes = sorted({len(vector) for vector in vectors})
        wanted = self.config.dimension
        if len(vectors) != count or len(sizes) != 1 or (wanted and sizes != [wanted]):
            raise ModelUnusable(
                f"{where} answered {count} texts with {len(vectors)} vectors of dimension {sizes}"
                f"{f', not {wanted}' if wanted else ''}; correct [embeddings]"
            )
        return list(vectors)


def create_embedder(
    config: EmbeddingsConfig,
    *,
    base_url: str,
    key: SecretStr | None,
    mask: SecretMask | None = None,
) -> Embedder:
    """A client of the endpoint; `base_url` is where models are, if the table names no `url`."""
    url = config.url or base_url
    known = key if key and key.get_secret_value() else None
    client = openai_client(url, known, timedelta(seconds=config.timeout_s))
    own = SecretMask([known.get_secret_value()] if known else ())
    return Embedder(config, address_without_secrets(url), client, mask or own)


class _Embedding(BaseModel):
    index: int = 0
    embedding: list[Annotated[float, Field(allow_inf_nan=False)]] = Field(
        min_length=1, max_length=16_000
    )


class _Reply(BaseModel):
    data: list[_Embedding]
