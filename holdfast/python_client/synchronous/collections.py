"""Send documents to collections, list, search and remove them."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from holdfast.python_client.answers import (
    Collection,
    Document,
    JsonObject,
    SearchListing,
    Upload,
)
from holdfast.python_client.request_paths import path_part
from holdfast.python_client.sent_files import file_fields
from holdfast.python_client.synchronous.session import SyncSession

_POLL_S = 0.3


class SyncCollections(SyncSession):
    """Collections of documents."""

    def collections(self) -> list[Collection]:
        """The collections by name."""
        return self._get(list[Collection], "/collections")

    def documents(self, collection: str) -> list[Document]:
        """The documents of a collection by address."""
        return self._get(list[Document], f"{_path(collection)}/documents")

    def add_documents(
        self,
        collection: str,
        *paths: Path | str,
        metadata: Mapping[str, str] | None = None,
        replace: bool = False,
        language: str | None = None,
    ) -> Upload:
        """Send files and folders to a collection, which are then read in the background.

        Args:
            collection: the name of the collection, which is made if there is none.
            paths: files and folders of this computer; the files of a folder keep their paths.
            metadata: what searches may filter by.
            replace: remove every other document of the collection.
            language: that of the words of the whole collection, such as german; by default, the
                collection keeps its own.

        Raises:
            FileNotFoundError: there is no such file or folder.
            InvalidRequest: there are too many files, or one cannot be named so.
        """
        form = {
            "metadata": json.dumps(dict(metadata or {})),
            "replace": str(replace).lower(),
            "language": language or "",
        }
        # A repeat changes nothing: documents that are there already stay as they are.
        answer = self._request(
            "POST",
            f"{_path(collection)}/documents",
            form=form,
            files=file_fields(paths),
            is_safe=True,
        )
        return TypeAdapter(Upload).validate_json(answer.content)

    def upload(self, upload: str) -> Upload:
        """How far an upload is, and what came of it."""
        return self._get(Upload, f"/uploads/{path_part(upload)}")

    def uploads(self, *, limit: int = 20) -> list[Upload]:
        """The newest uploads."""
        return self._get(list[Upload], "/uploads", limit=limit)

    def wait_for_upload(self, upload: str, *, timeout_s: float | None = None) -> Upload:
        """The upload once it has ended, or as it is after `timeout_s` seconds."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            seen = self.upload(upload)
            if seen.has_ended or (end is not None and time.monotonic() >= end):
                return seen
            time.sleep(_POLL_S)

    def search(
        self,
        collection: str,
        query: str,
        *,
        limit: int = 6,
        mode: str | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> SearchListing:
        """Search a collection as jobs do."""
        body = {"query": query, "limit": limit, "mode": mode, "where": dict(where or {})}
        return self._post(SearchListing, f"{_path(collection)}/search", body)

    def remove_documents(self, collection: str, address: str | None = None) -> JsonObject:
        """Remove one document, or the collection; jobs keep what they found there."""
        path = f"{_path(collection)}/documents"
        return self._delete(JsonObject, path, address=address)


def _path(collection: str) -> str:
    return f"/collections/{path_part(collection)}"
