"""Reads a typed answer out of whatever a model wrote around it: JSON, YAML, fences, thoughts."""

import json
import re
from collections.abc import Iterator
from typing import Any

import json_repair
import yaml
from pydantic import ValidationError

from planning.strict_yaml import StrictLoader
from roles.base import AnswerT

MAX_REPAIRED = 12_000  # characters; the repair is quadratic: 3 s on an idle core at worst
MAX_YAML = 40_000  # characters; the loader takes 2 s at worst for that many
MAX_STARTS = 20
_MESSAGE = 1_500

_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>|\A.*</think(?:ing)?>", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
_KEY_LINE = re.compile(r"^(?:- )?[\"']?[A-Za-z_][\w \"'-]{0,60}:(?=\s)", re.MULTILINE)


class ReplyInvalid(ValueError):
    """The reply is not the answer that was asked for; the message tells the model what to mend."""


def without_thoughts(text: str) -> str:
    """The reply without the thinking that some servers leave in front of it.

    Templates that open `<think>` in the prompt return only its end, so that alone counts too.
    """
    return _THOUGHTS.sub("", text, count=1).strip()


def read_reply(text: str, answer_type: type[AnswerT]) -> AnswerT:
    """The answer in a reply: of all that can be read as JSON or YAML, the first that is valid.

    Raises:
        ReplyInvalid: nothing in it is; the message is that of the likeliest reading.
    """
    complaint = ""
    for value in _readings(text.removeprefix("\ufeff").strip()):
        try:
            return _finite(answer_type.model_validate(_storable(value)))
        except ValidationError as error:
            complaint = complaint or _complaint(error)
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            # an answer's before-validators meet whatever the model wrote
            complaint = complaint or f"answer: {error}"
    raise ReplyInvalid((complaint or _nothing(text))[:_MESSAGE])


def _readings(text: str) -> Iterator[Any]:
    """What the reply can be read as, likeliest first; only objects count."""
    said = without_thoughts(text)
    fenced = [block.strip() for block in _FENCE.findall(said)[:MAX_STARTS]]
    yield from _exact(text, 0)  # before anything is cut off: a valid answer may quote a tag
    for part in (said, *fenced):
        yield from _exact(part, part.find("{"))
    for part in (*fenced, said):
        yield from _loose(part)


def _exact(text: str, start: int) -> Iterator[Any]:
    """The JSON that begins there, whatever follows it."""
    try:
        # line breaks inside strings are common and harmless
        value, _ = json.JSONDecoder(strict=False).raw_decode(text, max(0, start))
    except (ValueError, RecursionError):
        return
    yield from _objects(value)


def _loose(text: str) -> Iterator[Any]:
    """YAML and mended JSON; in JSON, YAML comes second: it folds line breaks in strings."""
    readers = (_mended, _yaml) if text.startswith(("{", "[")) else (_yaml, _mended)
    for read in readers:
        yield from read(text)


def _mended(text: str) -> Iterator[Any]:
    start = re.search(r"[{\[]", text)
    if start is None or len(text) > MAX_REPAIRED:
        return
    try:
        value = json_repair.loads(text[start.start() :])
    except (ValueError, RecursionError):
        return
    yield from _objects(value)


def _yaml(text: str) -> Iterator[Any]:
    """The text as YAML, then what follows each line that could begin it: prose may come first."""
    starts = [match.start() for match in _KEY_LINE.finditer(text)]
    affordable = max(1, min(MAX_STARTS, 3 * MAX_YAML // max(1, len(text))))
    for start in list(dict.fromkeys([0, *starts]))[:affordable]:
        if len(text) - start > MAX_YAML:
            continue
        try:
            value = yaml.load(text[start:], StrictLoader)  # noqa: S506 - a SafeLoader, narrowed
        except (yaml.YAMLError, ValueError, RecursionError):
            continue
        yield from _objects(value)


def _objects(value: object) -> Iterator[Any]:
    """The value if it is an object; of a list its objects, since two answers are read as one."""
    found = value if isinstance(value, list) else [value]
    yield from (each for each in found if isinstance(each, dict))


def _storable(value: object) -> object:
    """The value with its text as PostgreSQL can hold it: no NUL, no half characters."""
    match value:
        case str():
            return value.replace("\0", "").encode("utf-8", "replace").decode()
        case dict():
            return {_storable(key): _storable(each) for key, each in value.items()}
        case list():
            return [_storable(each) for each in value]
    return value


def _finite(answer: AnswerT) -> AnswerT:
    """The answer, once its numbers are known to be JSON's; pydantic reads "NaN" as one too."""
    try:
        json.dumps(answer.model_dump(), allow_nan=False, default=str)
    except ValueError as error:
        raise ValueError("a number is infinite or NaN; give a number or null") from error
    return answer


def _complaint(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [f"{'.'.join(map(str, each['loc'])) or 'answer'}: {each['msg']}" for each in found]
    return "\n".join(dict.fromkeys(lines))


def _nothing(text: str) -> str:
    if not without_thoughts(text):
        return "the answer is empty; answer with one JSON object"
    return "there is no JSON object in the answer; answer with one JSON object and nothing else"
