"""Order passages by a reranking model at an endpoint in Cohere's or TEI's form."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

import httpx2
from openai import AsyncOpenAI, OpenAIError
from pydantic import BaseModel, Field, SecretStr, TypeAdapter, ValidationError

from holdfast.models.corpus.rerank_config import RerankConfig
from holdfast.models.errors import ModelUnusable
from holdfast.models.text.secret_mask import SecretMask
from holdfast.roles.endpoints.endpoint_address import address_without_secrets
from holdfast.roles.endpoints.endpoint_client import openai_client
from holdfast.roles.endpoints.endpoint_errors import EndpointName, translate_error


class _Cohere(BaseModel):
    index: int
    relevance_score: Annotated[float, Field(allow_inf_nan=False)]


class _CohereReply(BaseModel):
    results: list[_Cohere]


class _Tei(BaseModel):
    index: int
    score: Annotated[float, Field(allow_inf_nan=False)]


_TEI_REPLY = TypeAdapter(list[_Tei])


@dataclass(frozen=True)
class Reranker:
    """One model at one endpoint; `aclose` closes its connections."""

    config: RerankConfig
    client: AsyncOpenAI
    mask: SecretMask

    @property
    def candidates(self) -> int:
        return self.config.candidates

    async def order(self, query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
        """Return the places of the texts with their scores, best first.

        Raises:
            ModelBusy: the endpoint is down or overloaded.
            ModelRefused: the key or the model is not accepted.
            ModelUnusable: it answers with something else than a score for each text.
        """
        outcome = await self._post(query, texts)
        if isinstance(outcome, Exception):
            # Raised outside `except`: a cause would take the server's text into logs.
            at = EndpointName(
                address_without_secrets(self.config.url),
                key=self.config.key_env or "`key_env` in [rerank]",
                url="`url` in [rerank]",
            )
            told = translate_error(
                outcome, at=at, model=self.config.model, mask=self.mask, now=datetime.now(UTC)
            )
            told.args = (f"reranking {told} (see [rerank] in holdfast.toml)",)
            raise told
        return self._read(outcome, len(texts))

    async def aclose(self) -> None:
        await self.client.close()

    async def _post(self, query: str, texts: Sequence[str]) -> str | OpenAIError | TimeoutError:
        body: dict[str, object] = {"query": query}
        if self.config.form == "cohere":
            body |= {"model": self.config.model, "documents": list(texts), "top_n": len(texts)}
        else:
            body |= {"texts": list(texts), "truncate": True}
        try:
            async with asyncio.timeout(self.config.timeout_s):
                reply = await self.client.post("/rerank", cast_to=httpx2.Response, body=body)
                return reply.text
        except (OpenAIError, TimeoutError) as error:
            return error

    def _read(self, body: str, count: int) -> list[tuple[int, float]]:
        try:
            content = json.loads(body)
            if self.config.form == "cohere":
                results = _CohereReply.model_validate(content).results
                scores = [(each.index, each.relevance_score) for each in results]
            else:
                scores = [(each.index, each.score) for each in _TEI_REPLY.validate_python(content)]
        except (ValueError, ValidationError, RecursionError):
            scores = []
        if sorted(place for place, _ in scores) != list(range(count)):
            raise ModelUnusable(
                f"reranking model {self.config.model!r} at "
                f"{address_without_secrets(self.config.url)} did not answer with a score for each "
                f"of {count} texts; check `url` and `form` in [rerank]"
            )
        return sorted(scores, key=lambda each: (-each[1], each[0]))


def create_reranker(config: RerankConfig, key: SecretStr | None) -> Reranker:
    """Return a client of the endpoint."""
    client = openai_client(config.url, key, timedelta(seconds=config.timeout_s))
    return Reranker(config, client, SecretMask([key.get_secret_value()] if key else ()))
