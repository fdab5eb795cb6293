"""Tests that no download of a bundle leaves its file behind."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from holdfast.api.routes.bundle_routes import FileSentOnce


@pytest.mark.parametrize(
    ("asked", "status"),
    [("bytes=0-3", 206), ("bytes=999999999999-", 416), ("bytes=no", 400)],
)
def test_the_file_is_removed_whatever_range_is_asked_for(
    tmp_path: Path, asked: str, status: int
) -> None:
    written = tmp_path / "job.crate.zip"
    written.write_bytes(b"a whole bundle")

    answer = TestClient(FileSentOnce(written)).get("/", headers={"Range": asked})

    assert answer.status_code == status
    assert not written.exists()
