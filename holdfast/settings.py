"""Read and validate the settings of an installation from environment variables."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from holdfast.models.errors import BadConfiguration

PREFIX = "HOLDFAST_"
_DRIVER = "postgresql+psycopg://"


class Settings(BaseSettings):
    """The settings of one installation; `home` comes from HOLDFAST_HOME, and so on."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        frozen=True,
        populate_by_name=True,
        extra="forbid",
        validate_default=True,
    )

    home: Path = Field(
        default_factory=lambda: platformdirs.user_data_path("holdfast"),
        description="the folder of the embedded services: their data, logs and state",
    )
    database_url: SecretStr | None = Field(
        default=None, description="a PostgreSQL server; by default an embedded one is started"
    )
    model: str = Field(
        default="extractive",
        min_length=1,
        description="the model of a job that names none; `extractive` needs no endpoint",
    )
    preset: str = Field(
        default="research", min_length=1, description="the preset of a job that names no preset"
    )
    openai_base_url: str = Field(
        default="https://api.openai.com/v1",
        alias="OPENAI_BASE_URL",
        pattern=r"^https?://\S+$",
        description="an OpenAI-compatible endpoint, with its /v1",
    )
    openai_api_key: SecretStr | None = Field(
        default=None, alias="OPENAI_API_KEY", description="the key for that endpoint"
    )
    task_queue: str = Field(
        default="holdfast", min_length=1, description="the Temporal task queue of the workers"
    )
    release: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        description="the release of this worker: jobs stay with the one that began them",
    )
    max_concurrent_tasks: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=500,
        description="how many activities one worker runs at once; most of them wait for a model",
    )
    pool_size: Annotated[int, Field(ge=1, le=500)] = Field(
        default=10, description="how many database connections one process keeps"
    )
    config_file: Path | None = Field(
        default=None,
        alias="HOLDFAST_CONFIG",
        description="roles, tools and prices; by default ./holdfast.toml if it exists",
    )
    local_embeddings: bool = Field(
        default=True,
        description="passages are embedded on this machine, if the part `semantic` is installed",
    )
    temporal_ui_url: str | None = Field(
        default=None,
        pattern=r"^https?://\S+$",
        description="the web address of your own Temporal UI",
    )
    metrics_address: str | None = Field(
        default=None,
        pattern=r"^\S+:\d{1,5}$",
        description="where a worker serves its own `/metrics`, such as 127.0.0.1:9464",
    )
    payload_keys: SecretStr | None = Field(
        default=None,
        description="keys that encrypt what Temporal stores: NAME:KEY,NAME:KEY; the first encrypts",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", description="log lines of this level and above are written"
    )

    @field_validator("home")
    @classmethod
    def _absolute(cls, home: Path) -> Path:
        return home.expanduser().absolute()

    @field_validator("database_url", mode="before")
    @classmethod
    def _one_driver(cls, value: object) -> object:
        url = value.get_secret_value() if isinstance(value, SecretStr) else value
        if not isinstance(url, str):
            return url
        scheme, separator, rest = url.partition("://")
        if not separator or scheme not in {"postgresql", "postgres", "postgresql+psycopg"}:
            # The message must not repeat the URL: it may hold a password.
            raise ValueError("must look like postgresql://user@host:5432/database")
        return _DRIVER + rest

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @field_validator("config_file")
    @classmethod
    def _existing(cls, file: Path | None) -> Path | None:
        path = (file or Path("holdfast.toml")).expanduser().absolute()
        if file is not None and not path.is_file():
            raise ValueError(f"names no file: {str(path)!r}")
        return path if path.is_file() else None

    @property
    def uses_embedded_database(self) -> bool:
        return self.database_url is None

    @property
    def uses_embedded_temporal(self) -> bool:
        """True if neither a variable nor a profile names a Temporal server."""
        return temporal_target() is None

    @property
    def has_model_endpoint(self) -> bool:
        """True if the environment names an endpoint, or has a key for the default endpoint."""
        return self.openai_api_key is not None or "openai_base_url" in self.model_fields_set


def load_settings() -> Settings:
    """The settings of this process.

    Raises:
        BadConfiguration: a variable has an unusable value; the message names the variable.
    """
    try:
        return Settings()
    except ValidationError as error:
        # Not pydantic's own text: it repeats the value, which may be a secret.
        faults = [f"{_variable(e['loc'])} {_readable(e['msg'])}" for e in error.errors()]
        raise BadConfiguration("; ".join(faults)) from None


_INTERNAL_VARIABLES = frozenset(
    {
        "HOLDFAST_READY_FILE",  # from the supervisor to its worker
        "HOLDFAST_DB_PASSWORD",  # docker-compose.yml
        "HOLDFAST_DB_PORT",
    }
)


def unknown_variables(environment: Mapping[str, str] = os.environ) -> list[str]:
    """A sentence about each variable that looks like a setting but is none."""
    known = {field.alias or PREFIX + name.upper() for name, field in Settings.model_fields.items()}
    sentences = []
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known | _INTERNAL_VARIABLES:
            nearest = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {nearest[0]}?" if nearest else ""
            sentences.append(f"{name} is not a setting of Holdfast{hint}")
    return sentences


def temporal_target() -> str | None:
    """The address of the Temporal server that the environment names, or None.

    Raises:
        BadConfiguration: the named Temporal profile or file cannot be read.
    """
    if address := os.environ.get("TEMPORAL_ADDRESS"):
        return address
    if not _names_a_profile():
        return None
    # Imported here: a third of a second that `--help` must not pay.
    from temporalio.envconfig import ClientConfig

    try:
        return ClientConfig.load_client_connect_config().get("target_host")
    except RuntimeError as error:
        raise BadConfiguration(f"Temporal's configuration cannot be read: {error}") from error


class Endpoints(BaseModel):
    """The addresses of the services of this installation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database_url: str = Field(repr=False, description="may hold a password: never print it")
    temporal_address: str
    temporal_namespace: str
    temporal_ui: str | None
    embedded_database: bool
    embedded_temporal: bool


def _names_a_profile() -> bool:
    if os.environ.get("TEMPORAL_PROFILE") or os.environ.get("TEMPORAL_CONFIG_FILE"):
        return True
    # The SDK's default folder: Go's os.UserConfigDir(), see temporalio/envconfig.py.
    folder = platformdirs.user_config_path("temporalio")
    return (folder / "temporal.toml").is_file()


def _variable(location: tuple[int | str, ...]) -> str:
    name = str(location[0])
    return name if name.isupper() else PREFIX + name.upper()


def _readable(message: str) -> str:
    message = message.removeprefix("Value error, ")
    return message[:1].lower() + message[1:]
