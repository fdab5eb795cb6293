"""Define a configured model: its endpoint, its parameters, its limits and its price."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from holdfast.models.budget.token_prices import Price
from holdfast.models.frozen_model import Frozen

OPENAI_KEY_VARIABLE = "OPENAI_API_KEY"

RESERVED_BODY_KEYS = frozenset(
    {
        "model",
        "messages",
        "input",
        "background",
        "response_format",
        "tools",
        "tool_choice",
        "stream",
        "stream_options",
        "n",
    }
)
"""Keys of a request that only Holdfast sets."""


_LONGEST_LOOP_REPLY = 4_000
"""Tokens that are kept free for a reply without `max_output_tokens`."""
_LOOP_FUNCTIONS = 1_000
"""Tokens of a loop's function definitions, generously."""


class ModelConfig(Frozen):
    """The table `[models.NAME]` of `holdfast.toml`; jobs name the model by NAME."""

    id: str | None = Field(default=None, pattern=r"^\S+$")
    """The model's name at its endpoint; None means NAME."""
    url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    """The endpoint with its /v1; None means OPENAI_BASE_URL."""
    key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """The variable with the key. None means OPENAI_API_KEY if `url` is None, otherwise no key."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = None
    reasoning_effort: str | None = Field(default=None, min_length=1, max_length=40)
    max_output_tokens: int | None = Field(default=None, ge=1)
    output_limit_key: Literal["max_tokens", "max_completion_tokens"] | None = None
    """The request's key for `max_output_tokens`; None lets the endpoint's address decide."""
    extra_body: Mapping[str, JsonValue] = Field(default_factory=dict)
    """Further keys of each request, as the endpoint names them."""
    schema_in_prompt: bool | None = None
    """True if prompts say of which type the answer is, also where the request has the schema.

    None lets the endpoint's address decide: hosted endpoints show the schema to the model, local
    servers only hold the reply to it.
    """
    context_tokens: int | None = Field(default=None, ge=256)
    """The model's context in tokens, input and output together; None: unknown."""
    price: Price | None = None
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    """Input and output tokens; a single request that is longer goes alone."""
    calls_at_once: int | None = Field(default=None, ge=1)
    timeout_s: Annotated[float, Field(gt=0, le=3600)] = 600.0
    """Seconds of one call; a job's `task_timeout` may end it earlier."""
    api: Literal["chat", "responses"] = "chat"
    """The API of the endpoint: `/chat/completions` or `/responses`."""
    background: bool = False
    """True if replies are made in the background, so that a crash of the worker loses none."""
    stream: bool = True
    """True if replies are read as they are written, where the endpoint can do that."""
    first_byte_s: Annotated[float, Field(gt=0, le=3600)] | None = None
    """Seconds until a streamed reply begins; None: as long as the call may take."""
    silence_s: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Seconds for which a streamed reply that has begun may stand still."""

    @field_validator("extra_body")
    @classmethod
    def _sets_nothing_of_ours(cls, body: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        if own := sorted(RESERVED_BODY_KEYS & body.keys()):
            raise ValueError(f"{own[0]!r} is set by Holdfast itself; leave it out")
        return body

    @model_validator(mode="after")
    def _knows_its_api(self) -> Self:
        if self.background and self.api != "responses":
            raise ValueError('`background` needs `api = "responses"`')
        if self.seed is not None and self.api == "responses":
            raise ValueError("the Responses API takes no `seed`; leave it out")
        return self

    @property
    def has_limits(self) -> bool:
        """True if the model has limits that hold for all workers together."""
        limits = (self.requests_per_minute, self.tokens_per_minute, self.calls_at_once)
        return any(limit is not None for limit in limits)

    @property
    def transcript_room(self) -> int | None:
        """Return the tokens that a loop's transcript may have; None if the context is unknown.

        The rest of the context is for the reply and for the functions of the loop.
        """
        if self.context_tokens is None:
            return None
        reply = self.max_output_tokens or min(self.context_tokens // 4, _LONGEST_LOOP_REPLY)
        return max(0, self.context_tokens - reply - _LOOP_FUNCTIONS)

    @property
    def key_variable(self) -> str | None:
        """Return the variable with the key; None if the endpoint gets no key."""
        return key_variable(self.url, self.key_env)


def key_variable(url: str | None, key_env: str | None) -> str | None:
    """Return the variable with the key of an endpoint; None if the endpoint gets no key.

    The key of OPENAI_API_KEY goes to the endpoint of OPENAI_BASE_URL alone, unless a table that
    has a `url` of its own names the variable.
    """
    return OPENAI_KEY_VARIABLE if key_env is None and url is None else key_env
