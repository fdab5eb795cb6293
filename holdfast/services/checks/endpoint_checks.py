"""Ask the configured endpoints of models, of embeddings and of reranking for `holdfast doctor`."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pydantic import SecretStr

from holdfast.models.calls.model_config import OPENAI_KEY_VARIABLE
from holdfast.models.errors import HoldfastError
from holdfast.roles.endpoints.endpoint_address import address_without_secrets
from holdfast.services.checks.check_outcome import TIMEOUT_S, CheckOutcome
from holdfast.settings import Endpoints, Settings

if TYPE_CHECKING:
    from holdfast.configuration.known_models import KnownModels

_TIMED_OUT = "timeout"
_EndpointCheck = Callable[[Settings, Endpoints | None], Coroutine[None, None, CheckOutcome]]


@dataclass(frozen=True)
class _ModelEndpoint:
    """An endpoint with its key, and how remedies name the settings of both."""

    url: str
    key: SecretStr | None
    url_setting: str = "OPENAI_BASE_URL"
    key_setting: str = OPENAI_KEY_VARIABLE


async def check_default_endpoint(settings: Settings, _: Endpoints | None) -> CheckOutcome:
    """Ask the endpoint of the models that have no table."""
    if not settings.has_model_endpoint:
        return CheckOutcome(None, "`extractive` is built in and needs no endpoint")
    return await _ask(_ModelEndpoint(settings.openai_base_url, settings.openai_api_key))


def configured_endpoint_checks(settings: Settings) -> Mapping[str, _EndpointCheck]:
    """Return a check for each endpoint that `holdfast.toml` names, by the name of its part.

    An endpoint with several models is asked once for each of its keys.

    Raises:
        BadConfiguration: a table is wrong.
    """
    # Imported here: `holdfast doctor` has to say it if these modules are at fault.
    from holdfast.configuration.embedding_settings import read_embeddings
    from holdfast.configuration.known_models import known_models
    from holdfast.configuration.rerank_settings import read_rerank

    known = known_models(settings)
    names: dict[tuple[str, str | None], list[str]] = {}
    for name, config in known.configured.items():
        names.setdefault((known.url(config), config.key_variable), []).append(name)
    checks: dict[str, _EndpointCheck] = {
        f"model{'s' if len(group) > 1 else ''} {', '.join(group)}": partial(
            _check_model_endpoint, known, group[0]
        )
        for group in names.values()
    }
    if read_embeddings(settings.config_file) is not None:
        checks["embeddings"] = _check_embeddings
    if read_rerank(settings.config_file) is not None:
        checks["rerank"] = _check_rerank
    return checks


async def _check_model_endpoint(
    known: "KnownModels", name: str, _settings: Settings, _: Endpoints | None
) -> CheckOutcome:
    if fault := known.fault(name):
        return CheckOutcome(False, fault)
    config, table = known.configured[name], f"in [models.{name}]"
    return await _ask(
        _ModelEndpoint(
            known.url(config),
            known.key(config),
            url_setting=f"`url` {table}" if config.url else "OPENAI_BASE_URL",
            key_setting=config.key_variable or f"`key_env` {table}",
        )
    )


async def _check_embeddings(settings: Settings, _: Endpoints | None) -> CheckOutcome:
    """Embed one word: a list of models would not show that the model embeds."""
    from holdfast.configuration.embedding_settings import open_embedder

    async with open_embedder(settings) as embedder:
        assert embedder is not None, "the table is there"
        where = f"{embedder.model} at {embedder.address}"
        try:
            async with asyncio.timeout(TIMEOUT_S):
                vector = await embedder.query("word")
        except TimeoutError:
            return _out_of_time(where)
        except HoldfastError as error:
            return CheckOutcome(False, str(error))
    return CheckOutcome(True, f"{where} gives vectors of dimension {len(vector.values)}")


async def _check_rerank(settings: Settings, _: Endpoints | None) -> CheckOutcome:
    """Let it order two words."""
    from holdfast.configuration.rerank_settings import open_reranker

    async with open_reranker(settings.config_file) as reranker:
        assert reranker is not None, "the table is there"
        where = f"{reranker.config.model} at {address_without_secrets(reranker.config.url)}"
        try:
            async with asyncio.timeout(TIMEOUT_S):
                await reranker.order("word", ["word", "other"])
        except TimeoutError:
            return _out_of_time(where)
        except HoldfastError as error:
            return CheckOutcome(False, str(error))
    return CheckOutcome(True, f"{where} orders passages")


async def _ask(endpoint: _ModelEndpoint) -> CheckOutcome:
    """Ask for the list of models, which costs nothing."""
    key = endpoint.key.get_secret_value() if endpoint.key else ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    base = endpoint.url.rstrip("/")
    where = address_without_secrets(base)
    status = await http_status(f"{base}/models", headers)
    if status == _TIMED_OUT:
        return _out_of_time(where)
    if isinstance(status, str):
        remedy = f"check {endpoint.url_setting}"
        return CheckOutcome(False, f"{where} does not answer ({status})", remedy)
    if status in {401, 403}:
        wrong = "refuses the key" if key else "needs a key"
        remedy = f"set {endpoint.key_setting} to a valid key"
        if endpoint.key_setting.startswith("`"):
            remedy = f"name the variable with the key as {endpoint.key_setting}"
        return CheckOutcome(False, f"{where} {wrong} ({status})", remedy)
    if status == 404:
        # Not every OpenAI-compatible server lists its models.
        return CheckOutcome(True, f"{where} answers, without a list of models")
    if status >= 400:
        remedy = f"check {endpoint.url_setting}, or try later"
        return CheckOutcome(False, f"{where} answers {status}", remedy)
    return CheckOutcome(True, f"{where} answers and takes {'the key' if key else 'no key'}")


def _out_of_time(where: str) -> CheckOutcome:
    detail = f"{where} did not answer within {TIMEOUT_S:g} s"
    remedy = "jobs wait longer than this check; if they wait too, look at the endpoint itself"
    return CheckOutcome(False, detail, remedy, ran_out_of_time=True)


async def http_status(address: str, headers: Mapping[str, str] | None = None) -> int | str:
    """Return the status of the response to a GET, or the reason why there is no response."""
    import httpx2

    try:
        async with asyncio.timeout(TIMEOUT_S), httpx2.AsyncClient(timeout=None) as client:
            return (await client.get(address, headers=headers)).status_code
    except TimeoutError:
        return _TIMED_OUT
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        return type(error).__name__
