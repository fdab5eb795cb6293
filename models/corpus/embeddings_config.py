"""Define the table `[embeddings]` of `holdfast.toml`: the embedding model and its endpoint."""

from typing import Annotated

from pydantic import Field

from holdfast.models.calls.model_config import OPENAI_KEY_VARIABLE
from holdfast.models.frozen_model import Frozen


class EmbeddingsConfig(Frozen):
    """An endpoint that speaks OpenAI's `/v1/embeddings`."""

    model: str = Field(min_length=1)
    url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    """The address with its /v1; OPENAI_BASE_URL by default."""
    key_env: str = Field(default=OPENAI_KEY_VARIABLE, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """The name of the variable with the key, never the key itself."""
    batch_size: Annotated[int, Field(ge=1, le=2048)] = 64
    dimension: Annotated[int, Field(ge=1, le=16_000)] | None = None
    """The dimension to request; the model's own by default."""
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 60
