"""Describe answers that are texts or files, so that clients made from `/openapi.json` read them."""

from collections.abc import Mapping

TEXT: Mapping[str, object] = {"schema": {"type": "string"}}
LIST: Mapping[str, object] = {"schema": {"type": "array", "items": {"type": "object"}}}
BINARY: Mapping[str, object] = {"schema": {"type": "string", "format": "binary"}}
