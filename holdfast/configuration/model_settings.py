"""Read and check the `[models.NAME]` tables of `holdfast.toml`."""

from collections.abc import Mapping
from pathlib import Path

from pydantic_core import ErrorDetails

from holdfast.models.calls.model_config import ModelConfig
from holdfast.models.errors import BadConfiguration
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.planning.text.nearest_values import nearest_names
from holdfast.tools.holdfast_toml import read_toml, validated

_EXAMPLES = {
    "id": 'id = "gpt-5-mini"',
    "url": 'url = "http://127.0.0.1:8000/v1"',
    "key_env": 'key_env = "GROQ_API_KEY" (the name of a variable, never the key)',
    "temperature": "temperature = 0.2",
    "top_p": "top_p = 0.9",
    "seed": "seed = 7",
    "reasoning_effort": 'reasoning_effort = "low"',
    "max_output_tokens": "max_output_tokens = 8000",
    "output_limit_key": 'output_limit_key = "max_tokens"',
    "extra_body": "extra_body = { top_k = 20 }",
    "schema_in_prompt": "schema_in_prompt = true",
    "context_tokens": "context_tokens = 32768",
    "price": "price = { input = 0.15, output = 0.60, cached = 0.075 } (per million tokens)",
    "requests_per_minute": "requests_per_minute = 60",
    "tokens_per_minute": "tokens_per_minute = 100000",
    "calls_at_once": "calls_at_once = 2",
    "timeout_s": "timeout_s = 120",
    "api": 'api = "responses"',
    "background": "background = true",
    "stream": "stream = false",
    "first_byte_s": "first_byte_s = 90",
    "silence_s": "silence_s = 30",
}


def read_models(path: Path | None) -> Mapping[str, ModelConfig]:
    """Return the configured models by the name that jobs use; none if there is no file.

    Raises:
        BadConfiguration: an entry is wrong; the message names file, model and key, and an example.
    """
    if path is None or not path.exists():
        return {}
    tables = read_toml(path).get("models", {})
    if not isinstance(tables, dict):
        raise BadConfiguration(f"{path}: 'models' must be tables; write [models.NAME]")
    return {name: _model(path, name, entry) for name, entry in tables.items()}


def _model(path: Path, name: str, entry: object) -> ModelConfig:
    where = f"{path}: models.{name}"
    if name == EXTRACTIVE_MODEL:
        raise BadConfiguration(f"{where}: {name!r} is the built-in model; take another name")
    if not name.strip() or any(sign.isspace() for sign in name):
        raise BadConfiguration(f"{where}: a model's name has no white space; jobs use it")
    if not isinstance(entry, dict):
        raise BadConfiguration(f'{where} must be a table; write [models."{name}"]')
    if any(isinstance(entry.get(key), dict) for key in entry.keys() - _EXAMPLES.keys()):
        # TOML reads an unquoted name with a dot as a table in a table.
        raise BadConfiguration(f'{where}: put a name with dots in quotes, as in [models."gpt-4.1"]')
    return validated(ModelConfig, entry, lambda detail: _complaint(where, detail))


def _complaint(where: str, detail: ErrorDetails) -> str:
    key = str(detail["loc"][0])
    place = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden" and key not in _EXAMPLES:
        near = nearest_names(key, tuple(_EXAMPLES), 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        return (
            f"{where}.{key} is not a known key{meant}; known here: {', '.join(sorted(_EXAMPLES))}"
        )
    problem = detail["msg"].removeprefix("Value error, ")
    return f"{where}.{place}: {problem}; write for example {_EXAMPLES[key]}"
