"""Tests that `up` waits for a worker that makes progress, and names the cause otherwise."""

from pathlib import Path

import pytest

from holdfast.models.errors import ServiceDown
from holdfast.services import is_worker_running
from holdfast.services.detached_processes import last_lines, log_size
from holdfast.services.launch.worker_start import StartObservation, StartProgress
from tests.support.services.service_installation import ServiceInstallation


def fault_after(*observations: StartObservation) -> str | None:
    progress = StartProgress()
    return [progress.fault(each) for each in observations][-1]


def seen(at_s: float, pid: int | None = 1, cpu_s: float = 0.0) -> StartObservation:
    return StartObservation(at_s, pid, cpu_s)


@pytest.mark.conformance("REL-03")
def test_a_worker_that_uses_cpu_time_is_waited_for() -> None:
    assert fault_after(*(seen(at, cpu_s=at / 30) for at in range(0, 500, 20))) is None
    assert fault_after(seen(0, None), seen(20, 1), seen(49, 1)) is None


@pytest.mark.parametrize(
    ("observations", "fault"),
    [
        ([seen(0), seen(15), seen(31)], "has done nothing for 30 s"),
        ([seen(at, cpu_s=at) for at in range(0, 620, 10)], "after 10 minutes"),
        ([seen(at, pid=at) for at in range(5)], "ended 3 times"),
    ],
)
def test_a_worker_without_progress_is_given_up(
    observations: list[StartObservation], fault: str
) -> None:
    assert fault in (fault_after(*observations) or "")


@pytest.mark.conformance("REL-03")
def test_lines_of_an_earlier_start_are_not_shown(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_text("a fault of yesterday\n")
    offset = log_size(log)
    with log.open("a") as appending:
        appending.write("a fault of today\n")

    assert last_lines(log, offset=offset) == "  a fault of today"


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.conformance("REL-03")
@pytest.mark.long
async def test_a_worker_that_cannot_start_says_why_in_its_own_words(
    running: ServiceInstallation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (running.home / "logs" / "worker.log").write_text("a fault of yesterday\n")
    customization = "import sys\nsys.exit('broken on purpose')\n"
    (tmp_path / "sitecustomize.py").write_text(customization)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    with pytest.raises(ServiceDown, match=r"(?s)worker\.log.*broken on purpose") as caught:
        await running.up(worker=True)

    assert "yesterday" not in str(caught.value)
    assert not is_worker_running(running.settings)
