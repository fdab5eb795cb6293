"""Check everything in `holdfast.toml` that a worker reads, before a worker has to stop for it."""

from pathlib import Path

from holdfast.configuration.calibration_settings import read_calibrations
from holdfast.configuration.configured_agents import read_agents
from holdfast.configuration.corpus_settings import read_corpus
from holdfast.configuration.embedding_settings import read_embeddings_with_key
from holdfast.configuration.http_settings import read_http, read_oidc
from holdfast.configuration.known_models import check_agent_models, check_role_models
from holdfast.configuration.price_settings import read_prices
from holdfast.configuration.rerank_settings import read_rerank_with_key
from holdfast.configuration.retention_settings import read_retention
from holdfast.settings import Settings
from holdfast.tools.holdfast_toml import check_toml_tables
from holdfast.tools.mcp.server_config import check_own_names, read_servers
from holdfast.tools.private_job_settings import read_private_job_settings
from holdfast.tools.python.python_settings import read_python_settings
from holdfast.tools.tables.table_folder import read_table_folder
from holdfast.tools.web.web_settings import read_web_settings, read_wikipedia_settings
from holdfast.webhooks.webhook_settings import read_webhook_hosts


def check_configuration(settings: Settings) -> None:
    """Read every table of the file; nothing is opened or started.

    Raises:
        BadConfiguration: a table is wrong; names file, table and key, and the right form.
    """
    file = settings.config_file
    if file is None:
        return
    check_toml_tables(file)
    servers = read_servers(file)
    read_prices(file)
    read_calibrations(file)
    check_agent_models(read_agents(file), settings)
    check_role_models(settings)
    read_corpus(file)
    read_embeddings_with_key(settings)
    read_http(file)
    read_oidc(file)
    read_rerank_with_key(file)
    read_private_job_settings(file, servers)
    read_retention(file)
    read_webhook_hosts(file)
    check_own_names(servers, _builtin_names(file))


def _builtin_names(file: Path) -> set[str]:
    """Return the names of the built-in servers that the file leaves or turns on."""
    python = read_python_settings(file)
    is_on = {
        "corpus": True,
        "charts": True,
        "python": python is None or python.enabled,
        "tables": read_table_folder(file) is not None,
        "web": read_web_settings(file) is not None,
        "wikipedia": read_wikipedia_settings(file) is not None,
    }
    return {name for name, on in is_on.items() if on}
