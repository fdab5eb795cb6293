"""Implement `holdfast replay`: run jobs of bundles again, and print how they differ."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from holdfast.cli.installation_access import open_installation
from holdfast.cli.render.plain_table import plain_table
from holdfast.cli.render.terminal_output import console, print_json, print_text
from holdfast.models.errors import BadInput
from holdfast.planning.strategies.written_settings import parse_setting_changes
from holdfast.records.bundle_replay import ReplayChanges, ReplayedBundle, replay_bundles

EXIT_DIFFERENT = 4
"""The exit code if a job is not the same."""
EXIT_NOT_REPLAYED = 2
"""The exit code if no bundle could be replayed."""
_ENDING = "*.crate.zip"


class ReplayOptions(NamedTuple):
    """What a replay changes, and how long each job may take."""

    settings: tuple[str, ...]
    model: str | None
    is_live: bool
    timeout_s: int


def replay_command(
    paths: Sequence[Path], options: ReplayOptions, junit: Path | None, *, json_output: bool
) -> int:
    """Replay the bundles one after the other; 0 if every job is the same.

    Every result is printed and written, also if all bundles were refused.
    """
    bundles = _bundles(paths)
    changes = ReplayChanges(
        settings=parse_setting_changes(options.settings),
        model=options.model,
        is_live=options.is_live,
    )
    results = asyncio.run(_replayed(bundles, changes, timedelta(seconds=options.timeout_s)))
    if junit is not None:
        junit.write_bytes(junit_file(results))
    if json_output:
        print_json(results)
    else:
        _print(results)
    return exit_code(results)


def exit_code(results: Sequence[ReplayedBundle]) -> int:
    """Return 0 if every job is the same, 2 if no bundle was replayed, and 4 otherwise."""
    if all(each.is_same for each in results):
        return 0
    return EXIT_NOT_REPLAYED if all(each.is_refused for each in results) else EXIT_DIFFERENT


async def _replayed(
    bundles: Sequence[Path], changes: ReplayChanges, within: timedelta
) -> list[ReplayedBundle]:
    async with open_installation() as holdfast:
        return await replay_bundles(holdfast, bundles, changes, within)


def _bundles(paths: Iterable[Path]) -> list[Path]:
    found = [
        each for path in paths for each in (sorted(path.glob(_ENDING)) if path.is_dir() else [path])
    ]
    if not found:
        raise BadInput(f"there is no bundle: a folder's bundles are called {_ENDING}")
    return found


def _print(results: Sequence[ReplayedBundle]) -> None:
    rows = [_row(each) for each in results]
    console().print(plain_table(("bundle", "result", "status", "claims", "calls", "cost"), rows))
    for each in results:
        for line in _differences(each):
            print_text(line)


def _row(result: ReplayedBundle) -> tuple[str, ...]:
    if result.is_refused:
        return (result.bundle, result.status, "", "", "", "")
    return (
        result.bundle,
        "same" if result.is_same else "different",
        result.status,
        f"{len(result.claims_gone)} gone, {len(result.claims_new)} new",
        f"{result.calls_before} then, {result.calls_now} now, {result.calls_sent} sent",
        f"{_amount(result.cost_before)} then, {_amount(result.cost_now)} now",
    )


def _differences(result: ReplayedBundle) -> list[str]:
    if result.is_same:
        return []
    job = f"job {result.job_id} " if result.job_id else ""
    lines = [f"{result.bundle}: {job}{result.message}".rstrip()]
    if result.answer_before != result.answer_now:
        lines.append(f"  answer: {result.answer_before} then, {result.answer_now} now")
    lines += [f"  gone: {claim}" for claim in result.claims_gone]
    return [*lines, *(f"  new:  {claim}" for claim in result.claims_new)]


def _seconds(span_s: float) -> str:
    return f"{span_s:.3f}"


def _amount(cost: object) -> str:
    return "unknown" if cost is None else str(cost)


def junit_file(results: Sequence[ReplayedBundle]) -> bytes:
    """Return the results as a JUnit file, a test case for each bundle with its seconds."""
    failed = sum(not each.is_same for each in results)
    suite = ElementTree.Element(
        "testsuite",
        name="holdfast replay",
        tests=str(len(results)),
        failures=str(failed),
        time=_seconds(sum(each.took_s for each in results)),
    )
    for each in results:
        case = ElementTree.SubElement(
            suite, "testcase", classname="replay", name=each.bundle, time=_seconds(each.took_s)
        )
        if not each.is_same:
            lines = _differences(each)
            failure = ElementTree.SubElement(case, "failure", message=lines[0][:300])
            failure.text = "\n".join(lines)
    content: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return content
