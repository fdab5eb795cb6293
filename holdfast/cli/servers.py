"""The servers that a job may be limited to: those that come with Holdfast, and the user's own."""

import logging
from collections.abc import Sequence

from holdfast.builtin import builtin_servers, unread_corpus
from holdfast.logs import configure_logs
from holdfast.settings import Settings
from models.errors import BadInput
from tools.config import read_servers


async def check_servers(names: Sequence[str], settings: Settings) -> None:
    """Before a job is submitted that could call nothing. No server is started for it.

    Workers elsewhere have a file of their own: they refuse a job that names a server they have not.

    Raises:
        BadInput: there is no server of such a name.
        BadConfiguration: `holdfast.toml` is not right.
    """
    if not names or not settings.uses_embedded_temporal:
        return
    if not logging.getLogger().handlers:
        configure_logs("ERROR")  # else an MCP server in this process would log in its own way
    own = read_servers(settings.config_file) if settings.config_file else {}
    async with builtin_servers(settings, unread_corpus()) as builtin:
        known = sorted({*builtin, *own})
    for name in names:
        if name not in known:
            raise BadInput(f"there is no server {name!r}; there are: {', '.join(known)}")
