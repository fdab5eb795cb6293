"""Tests that code, messages and documentation use one word per thing (docs/glossary.md)."""

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent

# Instructions and field names that models read are not changed for the sake of a word: any
# change of a prompt needs a measurement. Scripted models and their tests read the same fields.
PROMPTS = (
    "roles/*",
    "models/*/*_drafts.py",
    "models/*/*_input.py",
    "models/*/*_messages.py",
    "models/*/*_task.py",
    "evals/oracle/*",
    "tests/durability/*",
    "tests/engine/*",
    "tests/replay/*",
    "tests/roles/*",
    "tests/support/*",
)


class RetiredWord(NamedTuple):
    """A word that is not used any more: how to recognise it, and what to write instead."""

    pattern: str
    """A regular expression over lower-case text in which names are split into words."""
    instead: str
    allowed: tuple[str, ...] = ()
    """Patterns of the files where the word means something else; the reason is beside each."""


RETIRED = (
    # Words of the glossary's last column that mean nothing else here.
    RetiredWord(
        r"nodes?",
        "task, agent task",
        (
            *PROMPTS,
            "planning/context/agent_context.py",  # fills the field of a prompt
            "evals/kopl/*",  # nodes of the knowledge base, as its paper calls them
            "benchmarks/peers/*",  # the interface of LangGraph
            "planning/text/strict_yaml.py",  # nodes of a YAML document
            "tools/python/*",  # nodes of Python's syntax tree
            "tests/breakages/breakage_list.py",  # likewise
            "tests/test_conformance.py",  # node_modules
            "tests/holdfast/api/responses/test_openai_javascript.py",  # the program Node.js
            "tests/evals/*",  # the field of a prompt
            "tests/safety/*",  # likewise
        ),
    ),
    RetiredWord(
        r"gates?",
        "delivery check, reservation",
        ("tests/activities/reports/*", "tests/planning/reports/*", "tests/roles/*"),  # a building
    ),
    RetiredWord(r"(?<!stop )iterations?", "verification round"),
    RetiredWord(r"stop ledger", "stop log"),
    RetiredWord(r"missions?", "job"),
    RetiredWord(
        r"rest(?:s|ed|ing)? on",
        "depends on, downstream tasks",
        (
            *PROMPTS,
            "activities/agents/agent_question_routing.py",  # the answerer's field
            "planning/strategies/agents.toml",  # an agent's instructions
            "planning/strategies/presets.toml",  # "replan the rest on failure"
        ),
    ),
    # Private names of earlier code.
    RetiredWord(r"desks?", "model caller"),
    RetiredWord(r"veils?", "secret mask"),
    RetiredWord(r"manner", "options, settings"),
    RetiredWord(r"givers?", "answer source"),
    RetiredWord(r"mouths?|ears", "reader, writer"),
    RetiredWord(r"shel(?:f|ves)", "collection"),
    # Archaic or puzzling English.
    RetiredWord(
        r"wish(?:es|ed)?",
        "want, request, option",
        (  # what people write in letters and minutes
            "roles/extractive/extraction/proposed_values.py",
            "roles/extractive/questions/letter_phrases.py",
            "tests/roles/extractive/*",
        ),
    ),
    RetiredWord(
        r"anew",
        "again",
        (
            *PROMPTS,
            "tools/web/web_server.py",  # the description of a tool, which models read
            "tools/wikipedia/wikipedia_server.py",  # likewise
            "tests/tools/web/test_wikipedia_server.py",  # reads that description
        ),
    ),
    RetiredWord(r"heed(?:s|ed|ing)?", "follow, consider", PROMPTS),
    RetiredWord(
        r"beside",
        "next to, with, compared with",
        ("evals/presets/answer_judge.py",),  # a prompt
    ),
    RetiredWord(r"(?:have|has|had|having) (?:\w+ ){1,4}worked", "run, research"),
    RetiredWord(
        r"worked again|work(?:s|ed)? (?:the|a) (?:plan|job|task|question)s?", "run", PROMPTS
    ),
)

SKIPPED = (
    "holdfast/demo/*",  # documents and questions of the demonstration: data
    "tests/replay/histories/*",  # recorded data
    "docs/glossary.md",  # names the retired words
    "tests/test_vocabulary.py",  # likewise
)
SUFFIXES = {".py", ".md", ".toml", ".sql", ".html", ".jinja", ".yml", ".yaml"}
FOLDERS = (
    "activities",
    "benchmarks",
    "deploy",
    "docs",
    "evals",
    "holdfast",
    "migrations",
    "models",
    "planning",
    "roles",
    "storage",
    "tests",
    "tools",
    "workflows",
)


@cache
def checked_files() -> tuple[Path, ...]:
    below = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    there = (path for path in (*ROOT.iterdir(), *below) if path.suffix in SUFFIXES)
    return tuple(path for path in there if not matches(path, SKIPPED))


def matches(path: Path, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(str(path.relative_to(ROOT)), pattern) for pattern in patterns)


@cache
def words_of_file(path: Path) -> str:
    return words_of(f"{path.relative_to(ROOT)}\n{path.read_text()}")


def words_of(text: str) -> str:
    """The text in lower case, on one line, with every name split into its words."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text).lower()
    return re.sub(r"\s+[#|>*-]*\s*|-", " ", split)


def first_use(word: RetiredWord, words: str) -> str:
    """The word's first use with its surroundings; empty if there is none."""
    match = re.search(rf"\b(?:{word.pattern})\b", words)
    return words[max(match.start() - 40, 0) : match.end() + 40] if match else ""


def uses(word: RetiredWord) -> Iterator[tuple[str, str]]:
    """The files that use the word where it is not allowed, each with an excerpt."""
    for path in checked_files():
        excerpt = first_use(word, words_of_file(path))
        if excerpt and not matches(path, word.allowed):
            yield str(path.relative_to(ROOT)), excerpt


@pytest.mark.parametrize("word", RETIRED, ids=lambda word: word.instead)
@pytest.mark.slow
def test_a_retired_word_is_used_nowhere(word: RetiredWord) -> None:
    found = [f"{file}: …{excerpt}…" for file, excerpt in uses(word)]

    assert found == [], f"write {word.instead!r}"


@pytest.mark.parametrize("text", ["the gate", "a_gate", "TheGateOf", "two\n    # gates"])
def test_a_retired_word_is_recognised_in_names_and_over_line_ends(text: str) -> None:
    gate = RetiredWord(r"(?:the|a|two) gates?", "delivery check")

    assert first_use(gate, words_of(text))
    assert not first_use(gate, words_of("the gateway"))
