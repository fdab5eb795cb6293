"""Translate an endpoint's errors into Holdfast's, which say if a retry can help."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TypeGuard

from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

from holdfast.models.errors import (
    ContextTooLong,
    HoldfastError,
    MalformedReply,
    ModelBusy,
    ModelRefused,
    ModelUnusable,
    QuotaExhausted,
)
from holdfast.models.text.secret_mask import SecretMask
from holdfast.roles.endpoints.refusal_signs import (
    FAILED_GENERATION,
    FORMAT,
    OUTPUT_LIMIT_KEYS,
    STREAM,
    STREAM_OPTIONS,
    TOO_LONG,
    UNKNOWN_PARAMETER,
)
from holdfast.roles.endpoints.reply_errors import ReplyBroken, ReplyIncomplete, ReplyRefused

LONGEST_WAIT = timedelta(minutes=10)
_LONGEST_PRINTED = 300  # characters of the server's text

_OUT_OF_QUOTA = {"insufficient_quota", "billing_not_active", "billing_hard_limit_reached"}
_ADVICE = {
    401: "check the key in {key}",
    402: "the account is out of credit: top it up, or name another endpoint in {url}",
    403: "check that {key} may use this model",
    404: "check the model name and {url}, which often ends in /v1",
}
_MAY_PASS = {408, 409, 425}
_TOO_LONG_STATUS = {400, 413, 422, 500}  # 500: older forks of llama.cpp
_STREAM_STATUS = {400, 404, 405, 422, 501}
_FORMAT_STATUS = {400, 404, 422, 500, 501}  # some servers answer 500 to a format they do not know


@dataclass(frozen=True)
class EndpointName:
    """How messages name an endpoint, and where its key and its address are configured."""

    address: str
    """Without a password."""
    key: str = "OPENAI_API_KEY"
    url: str = "OPENAI_BASE_URL"


def translate_error(
    error: OpenAIError | TimeoutError,
    *,
    at: EndpointName,
    model: str,
    mask: SecretMask,
    now: datetime,
) -> HoldfastError:
    """Our error for the client's; the message names endpoint and model and never holds a secret."""
    where = f"model {model!r} at {at.address}"
    match error:
        case APIStatusError():
            told = f"{where} answered {error.status_code}: {server_text(error, mask=mask)}"
            return _by_status(error, told, at, now)
        case TimeoutError() | APITimeoutError():
            return ModelBusy(f"{where} gave no answer in time")
        case ReplyRefused():
            return ModelUnusable(f"{where} cannot be used: {error}; check {at.url}")
        case ReplyBroken():
            return ModelBusy(f"{where} {error}")
        case ReplyIncomplete():
            return MalformedReply(f"{where} {printable_text(str(error), mask)}")
        case APIConnectionError():
            cause = printable_text(str(error.__cause__ or error), mask)
            return ModelBusy(f"{where} cannot be reached ({cause}); check {at.url}")
    return ModelUnusable(f"{where} cannot be used: {printable_text(str(error), mask)}")


def is_format_unsupported(error: object) -> bool:
    """True if the server refuses the way we ask for JSON, and not the request itself."""
    if not isinstance(error, APIStatusError) or _is_too_long(error):
        return False
    return error.status_code in _FORMAT_STATUS and _mentions(error, FORMAT)


def failed_generation(error: object) -> str | None:
    """Return what the model wrote if the endpoint refused that instead of the request; else None.

    Empty if the endpoint does not say what it was.
    """
    if not isinstance(error, APIStatusError) or error.code not in FAILED_GENERATION:
        return None
    match error.body:
        case {"failed_generation": str(text)}:
            return text
    return ""


def other_limit_key(error: object, key: str) -> str | None:
    """Return the other name of the output limit if the endpoint does not know this one."""
    if not isinstance(error, APIStatusError) or error.status_code not in (400, 422):
        return None
    words = {error.param, *_error_message(error).replace("'", " ").replace('"', " ").split()}
    is_unknown = key in words and _mentions(error, UNKNOWN_PARAMETER)
    return next(name for name in OUTPUT_LIMIT_KEYS if name != key) if is_unknown else None


def refused_part_of_stream(error: object) -> str | None:
    """Return the key of a streamed request that the endpoint refuses, if that is the reason."""
    if not isinstance(error, APIStatusError) or error.status_code not in _STREAM_STATUS:
        return None
    words = re.findall(r"\w+", f"{error.param} {_error_message(error)}".lower())
    if STREAM_OPTIONS in words:
        return STREAM_OPTIONS
    return STREAM if any(word.startswith(STREAM) for word in words) else None


def is_filtered(error: object) -> TypeGuard[APIStatusError]:
    """True if a content filter stopped the prompt (Azure's form of it)."""
    return isinstance(error, APIStatusError) and error.code == "content_filter"


def server_text(error: APIStatusError, *, mask: SecretMask) -> str:
    """The server's error text, safe for a message."""
    return printable_text(_error_message(error), mask)


def _by_status(error: APIStatusError, told: str, at: EndpointName, now: datetime) -> HoldfastError:
    status = error.status_code
    if _is_too_long(error):
        return ContextTooLong(told)
    if _is_out_of_quota(error):
        return QuotaExhausted(f"{told}; {_ADVICE[402].format(url=at.url)}")
    if status in _ADVICE:
        advice = _ADVICE[status].format(key=at.key, url=at.url)
        return ModelRefused(f"{told}; {advice}", status=status)
    if status == 429 or _may_pass(error):
        after = _retry_after(error.response.headers, now)
        return ModelBusy(told, after=after, status=status)
    return ModelUnusable(told)


def _may_pass(error: APIStatusError) -> bool:
    if error.response.headers.get("x-should-retry", "").lower() == "false":
        return False
    return error.status_code in _MAY_PASS or error.status_code >= 500


def _is_out_of_quota(error: APIStatusError) -> bool:
    named = {error.code, error.type} & _OUT_OF_QUOTA
    return error.status_code == 402 or (error.status_code in (400, 403, 429) and bool(named))


def _is_too_long(error: APIStatusError) -> bool:
    if error.status_code == 413:
        return True
    return error.status_code in _TOO_LONG_STATUS and _mentions(error, TOO_LONG)


def _retry_after(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    """The wait that the server asks for: milliseconds, seconds or an HTTP date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if not math.isnan(seconds):
            return timedelta(seconds=min(max(seconds, 0), LONGEST_WAIT.total_seconds()))
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
        return min(max(until - now, timedelta(0)), LONGEST_WAIT)
    except (ValueError, TypeError):  # TypeError: a date that does not name its zone
        return None


def _mentions(error: APIStatusError, words: tuple[str, ...]) -> bool:
    text = f"{error.code} {error.type} {_error_message(error)}".lower()
    return any(word in text for word in words)


def _error_message(error: APIStatusError) -> str:
    match error.body:
        case {"message": str(message)}:
            return message
        case None | "":
            return error.message
        case str(text):
            return text
    return json.dumps(error.body, default=str)


def printable_text(text: str, mask: SecretMask) -> str:
    """Foreign text, safe for a message: one line, short, and without secrets."""
    return " ".join(mask.text(text).split())[:_LONGEST_PRINTED]
