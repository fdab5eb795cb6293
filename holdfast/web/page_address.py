"""Say where the page is: the address that signs a browser in once."""

import asyncio
import hashlib
import hmac
from urllib.parse import quote

from holdfast.api.access.installation_token import make_token
from holdfast.services.launch.page_server import await_page_server, start_page_server
from holdfast.settings import Settings
from holdfast.web.access.page_links import make_link_token


def begin_page(settings: Settings) -> None:
    """Start the page's server, unless it runs with these settings; does not wait for it."""
    start_page_server(settings.home, _settings_mark(settings))


async def page_address(settings: Settings, path: str = "/") -> str:
    """An address of the running page that signs a browser in once.

    Raises:
        ServiceDown: the server does not start.
    """
    await asyncio.to_thread(begin_page, settings)
    server = await asyncio.to_thread(await_page_server, settings.home, _settings_mark(settings))
    return signing_in_address(settings, server.url, path)


def signing_in_address(settings: Settings, url: str, path: str = "/") -> str:
    """The address at a server of this installation that signs a browser in once."""
    token = make_link_token(make_token(settings.home))
    to = "" if path == "/" else f"&to={quote(path, safe='/')}"
    return f"{url}/open?token={token}{to}"


def _settings_mark(settings: Settings) -> str:
    """A mark of all settings that says nothing about them."""
    secrets = [settings.database_url, settings.openai_api_key]
    parts = [settings.model_dump_json(), *(each.get_secret_value() for each in secrets if each)]
    if settings.config_file is not None:
        parts.append(settings.config_file.read_text("utf-8"))
    key = make_token(settings.home).encode()
    return hmac.new(key, "\n".join(parts).encode(), hashlib.sha256).hexdigest()
