"""Build the environment of the worker, and find out which of its settings have changed."""

import hashlib
import hmac
import os
import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from holdfast.services.supervisor.worker_files import READY_FILE_VARIABLE, ready_file_of
from holdfast.settings import Endpoints, Settings

OWN_CODE = "Holdfast itself"
"""The name under which a new version of our code is among the changes."""

_CONFIG_CONTENT = "the content of holdfast.toml"
_RELEVANT_PREFIXES = ("HOLDFAST_", "OPENAI_", "TEMPORAL_", "OTEL_", "SSL_")
_PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_PACKAGES = ("activities", "models", "planning", "roles", "storage", "tools", "workflows")
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_OF_THE_CLIENT = ("HOLDFAST_MODEL", "HOLDFAST_PRESET")
"""Defaults of a new job, which the worker does not read."""
_LEFT_OUT = {
    *("model", "preset"),
    # `worker_environment` holds these with the values that the worker gets.
    *("openai_api_key", "database_url", "config_file", "home", "temporal_ui_url"),
}
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\b")


def certificate_variables(kept: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that name files of certificates; those of `kept` where none is set.

    A program that starts `holdfast`, such as an MCP host, passes few variables on. The worker must
    not lose its certificates to it.
    """
    here = {name: os.environ[name] for name in _CERTIFICATES if name in os.environ}
    return {**kept, **here}


def worker_environment(
    settings: Settings, endpoints: Endpoints, certificates: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of the worker: this one with certificates and endpoints added."""
    env = {**os.environ, **certificates}
    if endpoints.embedded_temporal:
        # A key, certificate or profile in the environment is meant for another server.
        env = {name: value for name, value in env.items() if not name.startswith("TEMPORAL_")}
        env["TEMPORAL_CONFIG_FILE"] = os.devnull
        # Each worker looks for the address in the home: Temporal may move to another port.
    elif endpoints.temporal_ui:
        env["HOLDFAST_TEMPORAL_UI_URL"] = endpoints.temporal_ui
    if settings.config_file:
        env["HOLDFAST_CONFIG"] = str(settings.config_file)
    env["HOLDFAST_HOME"] = str(settings.home)
    env["HOLDFAST_DATABASE_URL"] = endpoints.database_url
    env[READY_FILE_VARIABLE] = str(ready_file_of(settings.home))
    return env


def worker_marks(
    settings: Settings, endpoints: Endpoints, certificates: Mapping[str, str], salt: str
) -> dict[str, str]:
    """Return a salted hash of each setting that the worker reads at its start, by its name.

    The hashes reveal no secret.
    """
    config = settings.config_file.read_text() if settings.config_file else ""
    named_in_config = set(_VARIABLE.findall(config))
    facts: dict[str, object] = {
        name: value
        for name, value in worker_environment(settings, endpoints, certificates).items()
        if name not in _OF_THE_CLIENT
        if name.startswith(_RELEVANT_PREFIXES)
        or name.upper() in _PROXY_VARIABLES
        or name in named_in_config
    }
    for field, value in settings.model_dump(mode="json", exclude=_LEFT_OUT).items():
        name = type(settings).model_fields[field].alias or f"HOLDFAST_{field.upper()}"
        facts[name] = value
    facts |= {_CONFIG_CONTENT: config, OWN_CODE: (version("holdfast"), _newest_source())}
    return {
        name: hmac.new(salt.encode(), repr((name, fact)).encode(), hashlib.sha256).hexdigest()
        for name, fact in facts.items()
    }


def changed_settings(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names of the settings that are different, new or gone."""
    names = before.keys() | now.keys()
    return sorted(name for name in names if before.get(name) != now.get(name))


def _newest_source() -> int:
    """Return the time of the latest change of our code in ns; edits keep the version number."""
    package = Path(__file__).parent.parent.parent
    folders = (package / name for name in _PACKAGES)
    files = [file for folder in folders for file in folder.rglob("*.py")]
    return max((file.stat().st_mtime_ns for file in files), default=0)
