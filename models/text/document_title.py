"""Leave a document's title out of a prompt if it repeats the address or the text."""

from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel, SerializerFunctionWrapHandler


def without_repeated_title(
    passage: BaseModel, handler: SerializerFunctionWrapHandler
) -> dict[str, Any]:
    """The passage as JSON; the title only if it tells more than `address` and `text` do.

    It repeats them if it is the file's name without its ending, or if the text begins with it.
    """
    content: dict[str, Any] = handler(passage)
    title = content.get("title", "")
    is_file_name = title == PurePosixPath(content.get("address", "")).stem
    if is_file_name or content.get("text", "").startswith(title):
        content.pop("title", None)
    return content
