"""Tests for what is said of a page's server that does not listen."""

import os
from pathlib import Path

import pytest

from holdfast.models.errors import ServiceDown
from holdfast.services.detached_processes import find_process
from holdfast.services.launch import page_server


def test_a_server_that_has_ended_is_said_with_its_log(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "page.log").write_text("no port is free\n")

    with pytest.raises(ServiceDown, match=r"does not start; its log .*\n  no port is free"):
        page_server.await_page_server(tmp_path, "mark")


def test_a_server_that_does_not_end_is_not_taken_for_one_that_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_server, "_STOP_SIGNALS", ())
    this_process = find_process(os.getpid())
    assert this_process is not None
    url = "http://127.0.0.1:8765"
    running = page_server.PageServer(process=this_process, url=url, settings_mark="mark")
    page_server.record_page_server(tmp_path, running)

    page_server.stop_page_server(tmp_path, this_process)

    stopping = page_server.running_page_server(tmp_path)
    assert stopping is not None
    assert (stopping.settings_mark, stopping.port) == ("", 8765)


def test_a_server_that_still_starts_is_not_said_to_have_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_server, "_START_TIMEOUT_S", 0.0)

    with pytest.raises(ServiceDown, match=r"still starts, .* look again with `holdfast open`"):
        page_server.await_page_server(tmp_path, "mark")
