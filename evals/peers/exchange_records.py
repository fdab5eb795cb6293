"""Keep the exchanges of a run with the model, and count calls and tokens from them.

Every exchange is a file. A run that is continued asks the same requests in the same order and gets
the kept replies, so no call is paid for twice.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.models.calls.model_requests import canonical_hash
from holdfast.models.frozen_model import Frozen

Json = Mapping[str, Any]


class Exchange(Frozen):
    """One request with its reply, as an OpenAI-compatible endpoint reads and writes them."""

    request: Json
    reply: Json
    seconds: float = 0.0


class Usage(Frozen):
    """What a run asked of the model."""

    calls: int = 0
    input_tokens: int = 0
    repeated_tokens: int = 0
    """Input tokens that began an earlier request of the run in the same words: a prompt cache can
    keep these. Estimated by their share of the request's characters."""
    cached_tokens: int = 0
    """Input tokens that the endpoint says it had cached."""
    output_tokens: int = 0


@dataclass
class ExchangeRecords:
    """The kept exchanges of one run, in the order of the calls."""

    folder: Path
    _asked: Counter[str] = field(default_factory=Counter)

    def kept(self, request: Json) -> Exchange | None:
        """Return the kept exchange of this request; the second time, that of its second call."""
        key = _key(request)
        self._asked[key] += 1
        found = [each for each in self.all if _key(each.request) == key]
        return found[self._asked[key] - 1] if len(found) >= self._asked[key] else None

    def add(self, exchange: Exchange) -> None:
        """Keep an exchange."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{len(list(self.folder.glob('*.json'))) + 1:04d}.json"
        draft = path.with_suffix(".tmp")
        draft.write_text(exchange.model_dump_json(indent=1), encoding="utf-8")
        draft.rename(path)

    @property
    def all(self) -> list[Exchange]:
        """Every exchange that is kept."""
        files = sorted(self.folder.glob("*.json"))
        return [Exchange.model_validate_json(each.read_text(encoding="utf-8")) for each in files]

    @property
    def usage(self) -> Usage:
        """Calls and tokens of all kept exchanges."""
        return usage_of(self.all)


def usage_of(exchanges: Sequence[Exchange]) -> Usage:
    """Return calls and tokens; tokens are those that the endpoint counted."""
    said = [_counted(each.reply) for each in exchanges]
    texts = [_request_text(each.request) for each in exchanges]
    repeated = [
        round(asked * _shared_prefix(text, texts[:at]) / max(len(text), 1))
        for at, (text, (asked, _, _)) in enumerate(zip(texts, said, strict=True))
    ]
    return Usage(
        calls=len(exchanges),
        input_tokens=sum(asked for asked, _, _ in said),
        repeated_tokens=sum(repeated),
        cached_tokens=sum(cached for _, cached, _ in said),
        output_tokens=sum(told for _, _, told in said),
    )


def _counted(reply: Json) -> tuple[int, int, int]:
    usage = reply.get("usage") or {}
    details = usage.get("prompt_tokens_details") or {}
    return (
        int(usage.get("prompt_tokens") or 0),
        int(details.get("cached_tokens") or 0),
        int(usage.get("completion_tokens") or 0),
    )


def _request_text(request: Json) -> str:
    """What the model reads, in the order in which endpoints cache it: tools, then messages."""
    tools = json.dumps(request.get("tools") or [], ensure_ascii=False)
    form = json.dumps(request.get("response_format") or {}, ensure_ascii=False)
    return f"{tools}{form}{json.dumps(request.get('messages') or [], ensure_ascii=False)[:-1]}"


def _shared_prefix(text: str, earlier: Sequence[str]) -> int:
    return max((_prefix_length(text, each) for each in earlier), default=0)


def _prefix_length(one: str, other: str) -> int:
    length = min(len(one), len(other))
    for at in range(length):
        if one[at] != other[at]:
            return at
    return length


def _key(request: Json) -> str:
    return canonical_hash({name: value for name, value in request.items() if name != "stream"})
