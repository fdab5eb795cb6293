"""Measure the time and the size of exporting a finished job to a bundle, and importing it again.

The jobs differ in their number of tasks: one tool call and one model call each, with a quoted
passage. Each is exported to a file, checked as `holdfast verify` does, and imported under another
id, so that every row is stored a second time. The times are medians over the rounds.
"""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.setup.benchmark_figures import MeasuredFigure
from benchmarks.setup.counted_installation import CountedInstallation, counted_installation
from benchmarks.setup.job_graphs import JobGraph, layered_graph
from holdfast.bundles.bundle_check import check_bundle
from holdfast.bundles.bundle_import import import_bundle
from holdfast.bundles.bundle_writer import write_bundle
from holdfast.client import new_job_id

SIZES = (20, 500, 2_000)
_WIDTH = 10
_MB = 1_000_000


async def measure(rounds: int, sizes: Sequence[int] = SIZES) -> list[MeasuredFigure]:
    """The times and size of the bundle of a job of each size, which is a multiple of ten tasks."""
    figures: list[MeasuredFigure] = []
    async with counted_installation() as here:
        for size in sizes:
            figures += await _bundle(here, layered_graph(_WIDTH, size // _WIDTH, _WIDTH), rounds)
    return figures


async def _bundle(here: CountedInstallation, graph: JobGraph, rounds: int) -> list[MeasuredFigure]:
    handle = await here.submit_planned(graph)
    await here.answered(handle)
    exports, checks, imports = [], [], []
    with TemporaryDirectory(prefix="holdfast-bundle-") as folder:
        file = Path(folder) / "job.crate.zip"
        for _ in range(rounds):
            begin = time.perf_counter()
            with file.open("wb") as out:
                manifest = await write_bundle(here.holdfast, handle.id, out)
            exports.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            check_bundle(file)
            checks.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            await import_bundle(here.holdfast, file, new_id=new_job_id())
            imports.append(time.perf_counter() - begin)
        packed = file.stat().st_size
    name = f"{graph.size} tasks"
    unpacked = sum(each.size_bytes for each in manifest.files) / _MB
    return [
        MeasuredFigure(f"{name}: export", statistics.median(exports), "s"),
        MeasuredFigure(f"{name}: check", statistics.median(checks), "s"),
        MeasuredFigure(f"{name}: import", statistics.median(imports), "s"),
        MeasuredFigure(f"{name}: bundle", packed / _MB, "MB", note=f"{unpacked:.1f} MB unpacked"),
    ]
