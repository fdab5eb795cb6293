"""Take a server's tool listing tool by tool, within stated limits, before the library sees it.

The library would reject a whole listing for one invalid tool, and would check output schemas
without a time limit. Between two tools the event loop does its other work.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from mcp.types import ListToolsResult
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

MAX_TOOLS = 1_000
"""The limit exists because planners read all tools and every tool is checked."""
MAX_LISTING_CHARS = 1_000_000
"""Characters of all tools of a server as JSON, about five times what a large model reads."""
MAX_PAGES = 200
_PAGE_KEYS = frozenset(known.alias or name for name, known in ListToolsResult.model_fields.items())
_KEPT_KEYS = _PAGE_KEYS - {"tools", "_meta"}


@dataclass
class ToolListing:
    """What the library does not see of a server's listing, and the room that is left in it."""

    refused: dict[str, str] = field(default_factory=dict)
    """Invalid tools with reasons."""
    output_schemas: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Output schemas by tool."""
    fault: str | None = None
    """Why the rest of the listing was not read; None if all of it was."""
    _sizes: dict[str, int] = field(default_factory=dict)
    """Characters of the tools that were taken, by name."""

    async def take_page(self, page: dict[str, Any], version: str) -> dict[str, Any]:
        """Return the page as the library may see it: with sound tools alone, within the limits."""
        shell = {key: page[key] for key in _KEPT_KEYS & page.keys()}
        tools = page["tools"]
        if len(tools) > MAX_TOOLS:
            self.fault = f"it lists more than {MAX_TOOLS:,} tools; the rest was left out"
        taken = []
        for tool in islice(tools, MAX_TOOLS):
            await asyncio.sleep(0)
            if self._has_room_for(tool) and self._is_valid(tool, shell, version):
                taken.append(self._without_output_schema(tool))
        return {**shell, "tools": taken}

    def _has_room_for(self, tool: object) -> bool:
        name = _name(tool)
        sizes = self._sizes | {name: len(json.dumps(tool))}
        if len(sizes) > MAX_TOOLS:
            self.fault = f"it lists more than {MAX_TOOLS:,} tools; the rest was left out"
        elif sum(sizes.values()) > MAX_LISTING_CHARS:
            self.fault = (
                f"its tools are longer than {MAX_LISTING_CHARS:,} characters; the rest was left out"
            )
        else:
            self._sizes = sizes
            return True
        return False

    def _is_valid(self, tool: object, shell: Mapping[str, Any], version: str) -> bool:
        try:
            validate_server_result("tools/list", version, {**shell, "tools": [tool]})
        except ValidationError as error:
            detail = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in detail["loc"][2:])
            self.refused[_name(tool)] = f"{place}: {detail['msg']}"
            return False
        except (KeyError, ValueError):
            return True  # an unknown protocol version; the library reports this error
        return True

    def _without_output_schema(self, tool: object) -> object:
        if not isinstance(tool, dict) or not isinstance(tool.get("outputSchema"), dict):
            return tool
        kept = dict(tool)
        self.output_schemas[_name(tool)] = kept.pop("outputSchema")
        return kept


def _name(tool: object) -> str:
    return str(tool.get("name")) if isinstance(tool, dict) else "?"
