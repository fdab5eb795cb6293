"""Tests for what is said of a page's server that does not listen."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.models.errors import ServiceDown
from holdfast.services import detached_processes, service_lifecycle
from holdfast.services.detached_processes import find_process
from holdfast.services.launch import page_server
from holdfast.services.service_state import RunningProcess
from holdfast.settings import Settings


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

    with pytest.raises(ServiceDown, match=r"is still starting; .* look again with `holdfast open`"):
        page_server.await_page_server(tmp_path, "mark")


@pytest.mark.parametrize(("mark", "is_spared"), [("mark", True), ("other settings", False)])
def test_a_server_that_still_starts_is_replaced_only_for_other_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str, *, is_spared: bool
) -> None:
    started: list[object] = []
    monkeypatch.setattr(
        detached_processes, "start_detached", lambda *args, **_: started.append(args)
    )
    slow = [sys.executable, "-c", "input()", *page_server._COMMAND, str(tmp_path), "mark"]
    with subprocess.Popen(slow, stdin=subprocess.PIPE) as starting:
        page_server.start_page_server(tmp_path, mark)

        assert (starting.poll() is None) == is_spared
        assert len(started) == (0 if is_spared else 1)
        starting.kill()


def test_what_does_not_end_keeps_nothing_else_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stubborn = find_process(os.getpid())
    assert stubborn is not None
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        process = find_process(other.pid)
        assert process is not None

        def end(_: RunningProcess) -> None:
            other.kill()
            other.wait()

        order = [("page", lambda _: None, None, [stubborn]), ("worker", end, None, [process])]
        monkeypatch.setattr(service_lifecycle, "_stop_order", lambda *_: order)

        with pytest.raises(ServiceDown, match=rf"still running: page \(pid {os.getpid()}\); run"):
            service_lifecycle.stop_services(Settings(home=tmp_path))

        assert other.poll() is not None
