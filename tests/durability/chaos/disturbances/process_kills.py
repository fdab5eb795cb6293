"""Kill the worker, PostgreSQL or Temporal with SIGKILL, and start the killed process again."""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from itertools import pairwise
from pathlib import Path

import psutil

from holdfast.services.detached_processes import is_alive
from holdfast.services.service_state import RunningProcess, load_state
from tests.durability.chaos.running_home import RunningHome

_WORKER = ("-m", "holdfast.worker")
_SUPERVISE = "--supervise"
_WITHIN_S = 30.0
_LOOK_AGAIN_S = 0.02


class KillTarget(StrEnum):
    """What is killed."""

    WORKER = "worker"
    POSTGRES = "PostgreSQL"
    TEMPORAL = "Temporal"


async def kill_target(installation: RunningHome, target: KillTarget) -> None:
    """Kills it and waits until it is gone."""
    await _kill(await find_processes(installation.settings.home, target))


async def kill_everything(installation: RunningHome) -> None:
    """Kills the supervisor with its worker, then Temporal and PostgreSQL, as a power cut does."""
    state = load_state(installation.settings.home)
    await _kill([*_tree(state.worker), *_tree(state.temporal), *_tree(state.postgres)])


async def kill_supervisor(installation: RunningHome) -> None:
    """Kills the supervisor with its worker, so that no worker is left.

    Servers that the supervisor started again are its children, and go on.
    """
    state = load_state(installation.settings.home)
    spared = {each.pid for each in (*_tree(state.postgres), *_tree(state.temporal))}
    await _kill([each for each in _tree(state.worker) if each.pid not in spared])


async def _kill(victims: list[psutil.Process]) -> None:
    for victim in victims:
        with suppress(ProcessLookupError):  # a server's child that went with its parent
            os.kill(victim.pid, signal.SIGKILL)
    await asyncio.to_thread(_wait_until_gone, victims)


async def restart_target(installation: RunningHome, target: KillTarget) -> None:
    """Starts what was killed, unless a supervisor does."""
    if target is KillTarget.WORKER and _is_supervised(installation.settings.home):
        return
    await installation.up()


async def find_processes(home: Path, target: KillTarget) -> list[psutil.Process]:
    async with asyncio.timeout(_WITHIN_S):
        # A supervisor may be about to start the worker.
        while not (found := _found(home, target)):
            await asyncio.sleep(_LOOK_AGAIN_S)
    return found


def _found(home: Path, target: KillTarget) -> list[psutil.Process]:
    state = load_state(home)
    match target:
        case KillTarget.WORKER:
            return _workers(_tree(state.worker))
        case KillTarget.POSTGRES:
            return _tree(state.postgres)
        case KillTarget.TEMPORAL:
            return _tree(state.temporal)


def _workers(tree: list[psutil.Process]) -> list[psutil.Process]:
    """The worker itself: below a supervisor, which may have its command line, or alone."""
    if tree and _SUPERVISE in _words(tree[0]):
        tree = tree[1:]
    return [process for process in tree if _WORKER in pairwise(_words(process))]


def _is_supervised(home: Path) -> bool:
    tree = _tree(load_state(home).worker)
    return bool(tree) and _SUPERVISE in _words(tree[0])


def _tree(root: RunningProcess | None) -> list[psutil.Process]:
    """The process and all below it, the parents first."""
    if root is None or not is_alive(root):
        return []
    try:
        process = psutil.Process(root.pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _words(process: psutil.Process) -> Sequence[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return ()


def _wait_until_gone(victims: list[psutil.Process]) -> None:
    _, stubborn = psutil.wait_procs(victims, timeout=_WITHIN_S)
    assert not stubborn, f"a killed process is still there: {stubborn}"
