"""Put what a caller gives into the path of a request."""

from urllib.parse import quote

from holdfast.python_client.api_errors import InvalidRequest

_OTHER_PATHS = ("", ".", "..")


def path_part(given: str | int) -> str:
    """An id, name or number as one part of a path, whatever characters it has.

    Raises:
        InvalidRequest: it would name another path, as the empty text, `.` and `..` do.
    """
    text = str(given)
    if text in _OTHER_PATHS:
        raise InvalidRequest(f"{text!r} is no id or name; give one that the server has answered")
    return quote(text, safe="")
