"""The table `[embeddings]` of holdfast.toml: which model turns texts into vectors, and where."""

from typing import Annotated

from pydantic import Field

from models.base import Frozen

KEY_VARIABLE = "OPENAI_API_KEY"


class EmbeddingsConfig(Frozen):
    """An endpoint that speaks OpenAI's `/v1/embeddings`."""

    model: str = Field(min_length=1)
    url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    """With its /v1; OPENAI_BASE_URL if left out."""
    key_env: str = Field(default=KEY_VARIABLE, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """The variable that holds the key, never the key itself."""
    batch_size: Annotated[int, Field(ge=1, le=2048)] = 64
    dimension: Annotated[int, Field(ge=1, le=16_000)] | None = None
    """Asked of the endpoint; without it the model's own."""
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 60
