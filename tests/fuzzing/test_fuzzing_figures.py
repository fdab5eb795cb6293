"""Tests that the fuzzing command says what it tried and what it found."""

from tests.fuzzing.__main__ import figures_line

_STATISTICS = """stat::number_of_executed_units: 8625
stat::average_exec_per_sec:     21
stat::slowest_unit_time_sec:    2
"""


def test_a_target_without_a_find_shows_its_executions() -> None:
    line = figures_line("texts", 0, f"INFO: seed corpus\n{_STATISTICS}")

    assert line == "texts: 8625 inputs, the slowest took 2 s; found: nothing"


def test_a_find_shows_the_exception_that_was_not_caught() -> None:
    told = (
        " === Uncaught Python exception: ===\n"
        "tests.fuzzing.fuzz_targets.TooSlow: 0.7 s; the limit is 0.5 s\n"
        f"Traceback (most recent call last):\n{_STATISTICS}"
    )

    line = figures_line("texts", 77, told)

    assert line.endswith("found: tests.fuzzing.fuzz_targets.TooSlow: 0.7 s; the limit is 0.5 s")


def test_a_fuzzer_that_died_without_figures_shows_its_error() -> None:
    line = figures_line("texts", 1, "==7== ERROR: libFuzzer: out-of-memory\n")

    assert line == (
        "texts: ? inputs, the slowest took ? s; found: ==7== ERROR: libFuzzer: out-of-memory"
    )
