"""Define the table `[rerank]` of `holdfast.toml`: a model that orders what a search found."""

from typing import Annotated, Literal

from pydantic import Field

from holdfast.models.frozen_model import Frozen


class RerankConfig(Frozen):
    """An endpoint that speaks Cohere's `/rerank` or that of Text Embeddings Inference (TEI)."""

    model: str = Field(min_length=1)
    url: str = Field(pattern=r"^https?://\S+$")
    """The address without /rerank, such as https://api.cohere.com/v2."""
    form: Literal["cohere", "tei"] = "cohere"
    key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """The variable with the key; None: no key is sent."""
    candidates: Annotated[int, Field(ge=2, le=50)] = 30
    """Passages that are ordered; the best of them are given."""
    timeout_s: Annotated[float, Field(gt=0, le=60)] = 10
