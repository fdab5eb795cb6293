"""Define the table `[embeddings]` of `holdfast.toml`: the embedding model and its endpoint."""

from typing import Annotated

from pydantic import Field

from holdfast.models.calls.model_config import key_variable
from holdfast.models.frozen_model import Frozen


class EmbeddingsConfig(Frozen):
    """An endpoint that speaks OpenAI's `/v1/embeddings`."""

    model: str = Field(min_length=1)
    url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    """The address with its /v1; OPENAI_BASE_URL by default."""
    key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """The variable with the key. None means OPENAI_API_KEY if `url` is None, otherwise no key."""
    batch_size: Annotated[int, Field(ge=1, le=2048)] = 64
    dimension: Annotated[int, Field(ge=1, le=16_000)] | None = None
    """The dimension to request; the model's own by default."""
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 60

    @property
    def key_variable(self) -> str | None:
        """Return the variable with the key; None if the endpoint gets no key."""
        return key_variable(self.url, self.key_env)
