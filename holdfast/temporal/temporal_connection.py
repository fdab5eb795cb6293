"""Connect to Temporal, register the search attributes, and build links to the Temporal UI."""

import asyncio
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from holdfast.models.errors import BadConfiguration, ServiceDown
from holdfast.models.wire.search_attributes import SearchAttribute
from holdfast.settings import Endpoints, Settings
from holdfast.temporal.core_logs import logged_runtime

if TYPE_CHECKING:
    from temporalio.client import Client
    from temporalio.envconfig import ClientConnectConfig
    from temporalio.runtime import Runtime

# Functions import `temporalio`: the import takes a second, which `--help` does not need.

_CONNECT_TIMEOUT_S = 5.0
_SYSTEM_MESSAGE = re.compile(r'Os \{[^}]*message: "([^"]{1,160})"')
"""The operating system's words in an error of the client's core."""


async def connect(
    settings: Settings,
    endpoints: Endpoints,
    *,
    identity: str | None = None,
    within_s: float = _CONNECT_TIMEOUT_S,
    metrics_address: str | None = None,
) -> "Client":
    """Connect to the embedded or configured server with our data converter.

    `identity` is the client's name in Temporal; default: `pid@host`. At the `metrics_address`,
    this process serves the client's figures.

    Raises:
        BadConfiguration: the Temporal profile, key or certificate, or a key for payloads, cannot be
            used.
        ServiceDown: no server answers at the address.
    """
    from temporalio.client import Client
    from temporalio.service import RPCError

    from holdfast.temporal.payload_codec import data_converter

    converter = data_converter(settings)
    config = _connection(endpoints)
    address = config["target_host"]
    try:
        async with asyncio.timeout(within_s):
            return await Client.connect(
                **config,
                data_converter=converter,
                identity=identity,
                runtime=_runtime(metrics_address),
            )
    except TimeoutError as error:
        raise ServiceDown(
            _no_answer_message(settings, address, f"within {within_s:g} s")
        ) from error
    except (RuntimeError, RPCError) as error:
        raise ServiceDown(
            _no_answer_message(settings, address, f"({_short_error(error)})")
        ) from error


def _runtime(metrics_address: str | None) -> "Runtime":
    try:
        return logged_runtime(metrics_address)
    except ValueError as error:
        raise BadConfiguration(
            f"HOLDFAST_METRICS_ADDRESS: no figures can be served at {metrics_address!r} "
            f"({_short_error(error)}); name a free port of this computer"
        ) from error


async def register_search_attributes(client: "Client") -> list[str]:
    """Register missing search attributes in the client's namespace; return their names.

    A workflow that sets an unregistered attribute never continues, so a worker must not start.

    Raises:
        BadConfiguration: an attribute has another type, or the server refuses new attributes.
        ServiceDown: the server does not answer.
    """
    from temporalio.service import RPCError

    try:
        present = await _registered_attributes(client)
        if missing := _missing_attributes(present):
            await _add_attributes(client, missing)
    except RPCError as error:
        raise _registration_error(error, client) from error
    return missing


async def missing_search_attributes(client: "Client") -> list[str]:
    """Return the search attributes that are missing in the client's namespace.

    Raises:
        BadConfiguration: an attribute has another type, or the namespace does not exist.
        ServiceDown: the server does not answer.
    """
    from temporalio.service import RPCError

    try:
        return _missing_attributes(await _registered_attributes(client))
    except RPCError as error:
        raise _registration_error(error, client) from error


def ui_url(
    settings: Settings, endpoints: Endpoints, workflow_id: str, run_id: str | None = None
) -> str | None:
    """Return the address of the workflow in the Temporal UI; None if no UI is configured."""
    base = ui_base(settings, endpoints)
    if base is None:
        return None
    namespace = quote(endpoints.temporal_namespace, safe="")
    page = f"{base.rstrip('/')}/namespaces/{namespace}/workflows/{quote(workflow_id, safe='')}"
    # Without a run, the UI shows the newest run.
    return f"{page}/{quote(run_id, safe='')}/timeline" if run_id else page


def ui_base(settings: Settings, endpoints: Endpoints) -> str | None:
    """Return the root address of the embedded UI, the configured UI or Temporal Cloud."""
    if endpoints.embedded_temporal:
        return endpoints.temporal_ui
    if settings.temporal_ui_url:
        return settings.temporal_ui_url
    host = endpoints.temporal_address.rsplit(":", 1)[0]
    is_cloud = host.endswith((".tmprl.cloud", ".api.temporal.io"))
    return "https://cloud.temporal.io" if is_cloud else None


def configured_namespace() -> str:
    """Return the namespace of the environment or profile; default: Temporal's `default`."""
    from temporalio.envconfig import ClientConfig

    return ClientConfig.load_client_connect_config().get("namespace") or "default"


def _connection(endpoints: Endpoints) -> "ClientConnectConfig":
    from temporalio.envconfig import ClientConfig

    if endpoints.embedded_temporal:
        # A key or a certificate in the environment is meant for another server.
        return {
            "target_host": endpoints.temporal_address,
            "namespace": endpoints.temporal_namespace,
        }
    try:
        config = ClientConfig.load_client_connect_config()
    except (RuntimeError, OSError) as error:
        message = f"Temporal's configuration cannot be read: {error}"
        raise BadConfiguration(message) from error
    return {**config, "target_host": config.get("target_host") or endpoints.temporal_address}


def _no_answer_message(settings: Settings, address: str, how: str) -> str:
    cure = (
        "start it with `holdfast up`"
        if settings.uses_embedded_temporal
        else "check TEMPORAL_ADDRESS or the profile, the key and the network"
    )
    return f"Temporal at {address!r} does not answer {how}; {cure}"


def _short_error(error: Exception) -> str:
    # `ConnectError(..., Os { code: 111, kind: ConnectionRefused, message: "Connection refused" })`
    if found := _SYSTEM_MESSAGE.search(str(error)):
        return found[1]
    return str(error).split(", Os", 1)[0].removeprefix("Failed client connect: ")[:160]


async def _registered_attributes(client: "Client") -> dict[str, str]:
    from temporalio.api.enums.v1 import IndexedValueType
    from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest

    answer = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return {
        name: IndexedValueType.Name(kind).removeprefix("INDEXED_VALUE_TYPE_").title()
        for name, kind in answer.custom_attributes.items()
    }


def _missing_attributes(present: Mapping[str, str]) -> list[str]:
    kinds = {attribute.value: attribute.kind for attribute in SearchAttribute}
    for name, kind in kinds.items():
        if present.get(name, kind) != kind:
            raise BadConfiguration(
                f"the search attribute {name!r} is {present[name]} in this Temporal namespace and "
                f"must be {kind}; use another namespace (TEMPORAL_NAMESPACE)"
            )
    return [name for name in kinds if name not in present]


async def _add_attributes(client: "Client", names: list[str]) -> None:
    from temporalio.api.enums.v1 import IndexedValueType
    from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
    from temporalio.service import RPCError, RPCStatusCode

    kinds = {
        name: IndexedValueType.Value(f"INDEXED_VALUE_TYPE_{SearchAttribute(name).kind.upper()}")
        for name in names
    }
    try:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=kinds)
        )
    except RPCError as error:
        # Several workers may start at once, and another worker was faster.
        if error.status is not RPCStatusCode.ALREADY_EXISTS:
            raise


def _registration_error(error: Exception, client: "Client") -> BadConfiguration | ServiceDown:
    from temporalio.service import RPCError, RPCStatusCode

    status = error.status if isinstance(error, RPCError) else None
    if status in {RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED}:
        return ServiceDown(f"Temporal stopped answering: {error}")
    if status is RPCStatusCode.NOT_FOUND:
        return BadConfiguration(
            f"the Temporal namespace {client.namespace!r} does not exist; create it or set "
            "TEMPORAL_NAMESPACE to one that does"
        )
    flags = " ".join(f"--name {each} --type {each.kind}" for each in SearchAttribute)
    return BadConfiguration(
        f"search attributes cannot be registered in {client.namespace!r} ({error}); ask an "
        f"administrator to run `temporal operator search-attribute create {flags}`, or on Temporal "
        "Cloud add them in the namespace's settings"
    )
