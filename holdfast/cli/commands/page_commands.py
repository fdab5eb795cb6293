"""Implement `holdfast open`: print the page's address, and open it in a browser."""

import asyncio
import os
import sys
import webbrowser
from collections.abc import Mapping

from holdfast.cli.installation_access import open_installation
from holdfast.cli.render.terminal_output import print_json, print_text
from holdfast.jobs.job_lookup import find_job_id
from holdfast.web.page_address import page_address


def open_command(job: str | None, *, browser: bool, json_output: bool) -> None:
    """Print an address that signs a browser in once; open it if there is a desktop."""
    address = asyncio.run(_address(job))
    if json_output:
        print_json({"url": address})
    else:
        print_text(address)
    if browser and not json_output and has_desktop(os.environ):
        webbrowser.open(address)


async def _address(job: str | None) -> str:
    async with open_installation(needs_temporal=False) as holdfast:
        path = "/" if job is None else f"/jobs/{await find_job_id(holdfast.db, job)}"
        return await page_address(holdfast.settings, path)


def has_desktop(environment: Mapping[str, str]) -> bool:
    """True if a browser with windows can open here; one in the terminal shows no page."""
    is_macos = sys.platform == "darwin"
    return is_macos or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
