"""Read a typed answer out of a reply with thinking, code fences, YAML or broken JSON."""

import json
import re
from collections.abc import Iterator
from typing import Any

import json_repair
from pydantic import ValidationError

from holdfast.models.text.json_leaves import map_texts
from holdfast.models.text.storable_text import storable_text
from holdfast.planning.text.strict_yaml import load_strict_yaml
from holdfast.roles.dialogue.role_definition import AnswerT

MAX_CHARS = 1_000_000  # of a reply; a longer reply is not read, and its author is told so
MAX_VALUES = 50_000  # in an answer, as its commas and brackets show; 25,000 objects take 0.3 s
MAX_REPAIRED = 12_000  # characters; the repair is quadratic: 3 s on an idle core at worst
MAX_YAML = 40_000  # characters; the loader takes 2 s at worst for that many
MAX_STARTS = 20
_MESSAGE = 1_500
_TOLD_END = 60  # characters of a cut answer's end that its author is told
_TOO_MANY_VALUES = f"the answer has more than {MAX_VALUES:,} values; answer more briefly"

_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>|\A.*</think(?:ing)?>", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
_OBJECT = re.compile(r"\{(?=\s*(?:[\"'}]|\Z))")
"""The beginning of a JSON object; `{this}` in prose is none."""
_JSON_SIGN = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"|(?<=[{\[,:])\s*\'[^\'\\]*(?:\\.[^\'\\]*)*\'|[{}\[\]]|"', re.DOTALL
)
"""A whole string (also in Python's quotes), a bracket, or a quote that nothing closes."""
_KEY_LINE = re.compile(r"^(?:- )?[\"']?[A-Za-z_][\w \"'-]{0,60}:(?=\s)", re.MULTILINE)


class ReplyInvalid(ValueError):
    """The reply is not a valid answer; the message tells the model what to correct."""


def without_thinking(text: str) -> str:
    """The reply without the thinking that some servers leave in front of it.

    Templates that open `<think>` in the prompt return only its end, so that alone counts too.
    """
    return _THOUGHTS.sub("", text, count=1).strip()


def read_reply(text: str, answer_type: type[AnswerT]) -> AnswerT:
    """The answer in a reply: of all that can be read as JSON or YAML, the first that is valid.

    Raises:
        ReplyInvalid: nothing in it is; the message is that of the likeliest reading.
    """
    if len(text) > MAX_CHARS:
        raise ReplyInvalid(f"the answer has {len(text):,} characters; the limit is {MAX_CHARS:,}")
    # Before the parser and the validation, which nothing interrupts: each value may have faults.
    if sum(map(text.count, "[{,")) > MAX_VALUES:
        raise ReplyInvalid(_TOO_MANY_VALUES)
    complaint = ""
    for value in _readings(text.removeprefix("\ufeff").strip()):
        try:
            return _with_finite_numbers(answer_type.model_validate(map_texts(value, storable_text)))
        except ValidationError as error:
            complaint = complaint or _validation_message(error)
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            # an answer's before-validators meet whatever the model wrote
            complaint = complaint or f"answer: {error}"
    raise ReplyInvalid((complaint or _no_json_message(text))[:_MESSAGE])


def _readings(text: str) -> Iterator[Any]:
    """The objects that the reply can be read as, likeliest first.

    Raises:
        ReplyInvalid: it has an object that is not complete.
    """
    said = without_thinking(text)
    fenced = [block.strip() for block in _FENCE.findall(said)[:MAX_STARTS]]
    yield from _exact_json(text, 0)  # before anything is cut off: a valid answer may quote a tag
    for part in (said, *fenced):
        yield from _exact_objects(part)
    if end := _end_of_cut_json(said):
        raise ReplyInvalid(
            f"your answer is not complete JSON; it ends after {end!r}. Send the whole object"
        )
    for part in (*fenced, said):
        yield from _lenient_readings(part)


def _exact_json(text: str, start: int) -> Iterator[Any]:
    """The JSON that begins there, whatever follows it."""
    value, _ = _decoded(text, start)
    yield from _only_objects(value)


def _exact_objects(text: str) -> Iterator[Any]:
    """The JSON objects in the text, whatever stands around them; none inside a broken one."""
    start = 0
    for _ in range(MAX_STARTS):
        found = _OBJECT.search(text, start)
        if found is None:
            return
        value, start = _decoded(text, found.start())
        if value is None:
            return
        yield from _only_objects(value)


def _decoded(text: str, start: int) -> tuple[object, int]:
    """The JSON value that begins there, and where it ends; None if there is none."""
    try:
        # line breaks inside strings are common and harmless
        return json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start


def _end_of_cut_json(text: str) -> str:
    """The last characters of the text if its first broken object never closes; else nothing.

    Closed by a guess, it would be another answer: a plan without its last tasks, for example.
    """
    start = 0
    while found := _OBJECT.search(text, start):
        value, start = _decoded(text, found.start())
        if value is None:
            return text[-_TOLD_END:] if _never_closes(text, found.start()) else ""
    return ""


def _never_closes(text: str, start: int) -> bool:
    """True if the text ends inside the brackets, or inside a string, that open at `start`."""
    depth = 0
    for sign in _JSON_SIGN.finditer(text, start):
        match sign[0]:
            case "{" | "[":
                depth += 1
            case "}" | "]":
                depth -= 1
                if depth <= 0:
                    return False
            case '"':
                return True
    return True


def _lenient_readings(text: str) -> Iterator[Any]:
    """Objects from YAML and repaired JSON; YAML second for JSON, since it folds line breaks."""
    readers = (
        (_repaired_json, _yaml_objects)
        if text.startswith(("{", "["))
        else (_yaml_objects, _repaired_json)
    )
    for read in readers:
        yield from read(text)


def _repaired_json(text: str) -> Iterator[Any]:
    """The object with its commas, quotes and words mended; nothing that is cut is closed."""
    start = _OBJECT.search(text) or re.search(r"[{\[]", text)
    if start is None or len(text) > MAX_REPAIRED or _never_closes(text, start.start()):
        return
    try:
        value = json_repair.loads(text[start.start() :])
    # The library asserts that a key is a text, and some broken texts prove it wrong.
    except (ValueError, RecursionError, AssertionError):
        return
    yield from _only_objects(value)


def _yaml_objects(text: str) -> Iterator[Any]:
    """The text as YAML, then what follows each line that could begin it: prose may come first."""
    starts = [match.start() for match in _KEY_LINE.finditer(text)]
    affordable = max(1, min(MAX_STARTS, 3 * MAX_YAML // max(1, len(text))))
    for start in list(dict.fromkeys([0, *starts]))[:affordable]:
        if len(text) - start > MAX_YAML:
            continue
        try:
            value = load_strict_yaml(text[start:])
        except ValueError:
            continue
        yield from _only_objects(value)


def _only_objects(value: object) -> Iterator[Any]:
    """The value if it is an object; of a list its objects, since two answers are read as one."""
    found = value if isinstance(value, list) else [value]
    yield from (each for each in found if isinstance(each, dict))


def _with_finite_numbers(answer: AnswerT) -> AnswerT:
    """The answer, if all its numbers are finite; pydantic also reads "NaN" as a number."""
    try:
        json.dumps(answer.model_dump(), allow_nan=False, default=str)
    except ValueError as error:
        raise ValueError("a number is infinite or NaN; give a number or null") from error
    return answer


def _validation_message(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [f"{'.'.join(map(str, each['loc'])) or 'answer'}: {each['msg']}" for each in found]
    return "\n".join(dict.fromkeys(lines))


def _no_json_message(text: str) -> str:
    if not without_thinking(text):
        return "the answer is empty; answer with one JSON object"
    return "there is no JSON object in the answer; answer with one JSON object and nothing else"
