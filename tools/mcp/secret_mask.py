"""Mask a server's own secrets, such as keys, wherever they appear in its answers and errors."""

import json
import os
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlsplit

from holdfast.models.calls.tool_signatures import SourcePassage, ToolAnswer
from holdfast.models.text.json_leaves import map_texts
from holdfast.tools.mcp.server_config import HttpServer, ServerConfig

_SHORTEST = 8
"""Characters of the shortest masked secret; masking every `1` or `en` would garble answers."""


def server_secrets(server: ServerConfig) -> tuple[str, ...]:
    """Return the values that the server gets from the environment or in its address."""
    if isinstance(server, HttpServer):
        headers = [os.environ.get(name, "").strip() for name in server.headers_env.values()]
        parts = urlsplit(server.url)
        in_url = [parts.password or "", *(value for _, value in parse_qsl(parts.query))]
        # In `Bearer abc` the second word alone is a secret as well.
        return (*headers, *(word for header in headers for word in header.split()), *in_url)
    return tuple(os.environ.get(name, "").strip() for name in server.env)


class SecretMask:
    """Masks secrets character by character, so that offsets into the text stay valid."""

    def __init__(self, secrets: Iterable[str]) -> None:
        long = {secret for secret in secrets if len(secret) >= _SHORTEST}
        forms = long | {json.dumps(secret)[1:-1] for secret in long}
        # The longest first, because one secret may be a part of another.
        self._forms = sorted(forms, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return the text with a star for each character of a secret."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, "*" * len(form))
        return text

    def answer(self, answer: ToolAnswer) -> ToolAnswer:
        """Return the answer with all secrets masked."""
        if not self._forms:
            return answer
        passages = tuple(self._passage(passage) for passage in answer.passages)
        return answer.model_copy(
            update={
                "text": self.text(answer.text),
                "structured": map_texts(answer.structured, self.text),
                "passages": passages,
            }
        )

    def _passage(self, passage: SourcePassage) -> SourcePassage:
        names = ("address", "title", "heading", "text")
        return passage.model_copy(
            update={name: self.text(getattr(passage, name)) for name in names}
        )
