"""The secrets that a server is given, taken out of whatever it says: it may well repeat them."""

import json
import os
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlsplit

from pydantic import JsonValue

from models.tools import ReadPassage, ToolAnswer
from tools.config import HttpServer, ServerConfig

_SHORTEST = 8
"""Characters; hiding `1` or `en` wherever it stands would spoil what a server says."""


def secrets_of(server: ServerConfig) -> tuple[str, ...]:
    """The values that the server is given from the environment, or in its address."""
    if isinstance(server, HttpServer):
        headers = [os.environ.get(name, "").strip() for name in server.headers_env.values()]
        parts = urlsplit(server.url)
        in_url = [parts.password or "", *(value for _, value in parse_qsl(parts.query))]
        # `Bearer abc`: the second word alone is as secret.
        return (*headers, *(word for each in headers for word in each.split()), *in_url)
    return tuple(os.environ.get(name, "").strip() for name in server.env)


class Veil:
    """Hides secrets, sign for sign, so that offsets into the text hold."""

    def __init__(self, secrets: Iterable[str]) -> None:
        long = {each for each in secrets if len(each) >= _SHORTEST}
        forms = long | {json.dumps(each)[1:-1] for each in long}
        # The longest first: one may be a part of another.
        self._forms = sorted(forms, key=len, reverse=True)

    def text(self, text: str) -> str:
        """The text with a star in the place of each sign of a secret."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, "*" * len(form))
        return text

    def answer(self, answer: ToolAnswer) -> ToolAnswer:
        """The answer without the secrets, wherever they stand in it."""
        if not self._forms:
            return answer
        passages = tuple(self._passage(each) for each in answer.passages)
        return answer.model_copy(
            update={
                "text": self.text(answer.text),
                "structured": self._value(answer.structured),
                "passages": passages,
            }
        )

    def _passage(self, passage: ReadPassage) -> ReadPassage:
        names = ("address", "title", "heading", "text")
        return passage.model_copy(
            update={name: self.text(getattr(passage, name)) for name in names}
        )

    def _value(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._value(each) for each in value]
        if isinstance(value, dict):
            return {self.text(name): self._value(each) for name, each in value.items()}
        return value
