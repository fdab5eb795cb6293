"""Tests that every benchmark runs; the measured values mean nothing here."""

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks.corpus import corpus_search_time
from benchmarks.durability import job_growth, kill_recovery
from benchmarks.engine import critical_path_time, first_report_time, task_overhead
from benchmarks.page import page_load
from benchmarks.records import bundle_time, fork_cost
from benchmarks.setup.benchmark_figures import (
    MeasuredFigure,
    figures_as_data,
    figures_as_table,
    median_ratio,
)
from benchmarks.setup.job_graphs import (
    LAST_TASK,
    chain_graph,
    critical_path_s,
    layered_graph,
    parallel_chains,
    wide_graph,
)
from benchmarks.tools import hub_overhead
from benchmarks.workers import throughput, worker_memory

ROOT = Path(__file__).parents[2]


def named(figures: list[MeasuredFigure]) -> dict[str, float]:
    return {figure.what: figure.value for figure in figures}


def test_critical_paths_count_the_slots() -> None:
    assert critical_path_s(chain_graph(20), 1.0) == 20
    assert critical_path_s(layered_graph(10, 10, 10), 1.0) == 10
    assert critical_path_s(wide_graph(96, 3), 0.5) == 16
    assert critical_path_s(layered_graph(10, 10, 3), 1.0) >= 34


def test_the_last_task_of_a_graph_joins_its_ends() -> None:
    assert chain_graph(3).tasks[-1].needs == ("T3",)
    assert len(wide_graph(5, 2).tasks[-1].needs) == 5
    assert layered_graph(2, 2, 2).tasks[-1].id == LAST_TASK


def test_a_table_says_whether_an_aim_is_met() -> None:
    figures = [
        MeasuredFigure("a", 1.0, "s", 2.0),
        MeasuredFigure("b", 3.0, "s", 2.0),
        MeasuredFigure("c", 1.0, "s"),
    ]

    assert [each["verdict"] for each in figures_as_data(figures)] == ["met", "missed", ""]
    assert len(figures_as_table(figures).splitlines()) == 4
    assert median_ratio([2.0, 4.0, 9.0], [1.0, 2.0, 3.0]) == 2.0


@pytest.mark.slow
@pytest.mark.long
async def test_overhead_compares_both_arms() -> None:
    figures = named(await task_overhead.measure(1, [chain_graph(3)]))

    assert figures["chain 3: ratio"] > 0
    assert figures["SQL statements"] >= 0


@pytest.mark.slow
@pytest.mark.long
async def test_critical_path_compares_both_arms() -> None:
    figures = named(await critical_path_time.measure(1, [(chain_graph(2), None)], 0.1))

    assert figures["chain 2: engine"] >= 1


@pytest.mark.slow
@pytest.mark.long
async def test_memory_is_sampled_at_rest_and_at_work() -> None:
    figures = named(await worker_memory.measure(2, layered_graph(2, 2, 3), 2))

    assert figures["worker at rest"] > 0
    assert figures["a tool answers 2 MB, peak"] > 0


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)
async def test_throughput_names_what_a_task_takes_from_each_process() -> None:
    figures = named(await throughput.measure([2], [0.0], [2], at_once=1))

    assert figures["2 jobs, calls of 0 s, workers: 2: rate"] > 0
    assert min(figures[f"  CPU of {name}"] for name in ("Temporal", "PostgreSQL")) > 0
    assert figures["  statements of workers"] > 1
    assert figures["100 calls of 20 s in one worker: most at once"] == 100


@pytest.mark.slow
@pytest.mark.long
async def test_first_report_runs_the_command_line() -> None:
    assert len(await first_report_time.measure(1)) == 3


@pytest.mark.slow
@pytest.mark.long
async def test_recovery_counts_what_a_kill_has_called_again() -> None:
    figures = named(await kill_recovery.measure(1, layered_graph(2, 4, 2), 0.5))

    assert figures["Holdfast: finished calls made again"] == 0
    assert figures["Holdfast: calls in flight made again"] == 2
    assert figures["Holdfast: kill to done, over the ideal"] > 0


@pytest.mark.slow
@pytest.mark.conformance("BEY-05")
@pytest.mark.long
async def test_a_fork_makes_only_the_calls_that_the_change_touches() -> None:
    figures = named(await fork_cost.measure(parallel_chains(2, 3, 2), "T3", 2))

    assert figures["Holdfast, fork: calls of 6 made again"] == 2
    assert figures["Temporal, reset: calls of 6 made again"] >= 2


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.conformance("WAVE-09")
async def test_bundles_are_measured_at_export_and_import() -> None:
    figures = named(await bundle_time.measure(1, [10, 20]))

    assert len(figures) == 8
    assert min(figures.values()) > 0
    assert figures["20 tasks: bundle"] > figures["10 tasks: bundle"]


@pytest.mark.slow
@pytest.mark.long
async def test_growth_looks_at_chains_at_a_replay_and_at_many_jobs() -> None:
    figures = named(await job_growth.measure([10], 10, layered_graph(1, 1, 1)))

    assert figures["chain 10: PostgreSQL"] > 0
    assert figures["chain 10: histories"] > 0
    assert figures["chain 10: the replay in that"] > 0
    assert figures["10 small jobs: memory at last"] > 0


@pytest.mark.slow
@pytest.mark.long
async def test_corpus_asks_the_same_of_all_arms(tmp_path: Path) -> None:
    write_data(tmp_path)

    figures = named(await corpus_search_time.measure([60], tmp_path, 4))

    for arm in ("keyword", "semantic", "hybrid", "plain, any word"):
        assert figures[f"60: {arm}, p95"] > 0
        assert figures[f"60: {arm}, recall@10 all"] == 100
    assert figures["60: plain, all words, recall@10 all"] < 100


def write_data(folder: Path) -> None:
    """Four questions in the formats of hotpotqa and musique."""
    names = ("Skerrin", "Gannet", "Morley", "Quillhaven")
    pages = [
        {"title": n, "sentences": [f"The {n} light was lit.", " It burned oil."]} for n in names
    ]
    (folder / "hotpotqa").mkdir()
    (folder / "musique").mkdir()
    rows = [
        {"question": f"Who built the light of {n}?", "supporting_facts": [[n, 0]], "context": pages}
        for n in names[:2]
    ]
    (folder / "hotpotqa/train300.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    rows = [
        {
            "question": f"Where does {n} stand?",
            "paragraphs": [
                {
                    "title": each,
                    "paragraph_text": f"{each} stands in the sea. {each} is old.",
                    "is_supporting": each == n,
                }
                for each in (*names, "Harbour")
            ],
        }
        for n in names[2:]
    ]
    (folder / "musique/train100.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")


@pytest.mark.slow
@pytest.mark.long
def test_the_command_names_its_benchmarks() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert "overhead" in ran.stdout or "NAME" in ran.stdout
    assert json.dumps(ran.stdout)


@pytest.mark.slow
async def test_the_hub_is_compared_with_a_bare_client_over_each_transport() -> None:
    figures = named(await hub_overhead.measure(1, 3))

    assert len(figures) == 6
    assert min(figures.values()) > 0


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)
async def test_the_page_is_measured_in_a_browser() -> None:
    figures = named(await page_load.measure((10,), 1, 2, timedelta(seconds=5)))

    assert figures["10 tasks: first paint, p50"] > 0
    assert figures["  sent, compressed"] < figures["  page"]
    assert figures["  sent to a tab for an event"] > 0
