"""Tests for the built-in matcher: the same words in another spelling match, and nothing else does."""

import pytest

from holdfast.models.calls.model_requests import Message, ModelRequest
from holdfast.roles.extractive.extractive_model import play_role
from holdfast.roles.extractive.tasks.matcher_rules import match
from holdfast.roles.tasks.matcher import MATCHER, MatcherAnswer, MatcherTask


def task(argument: str, *candidates: str) -> MatcherTask:
    return MatcherTask(
        argument=argument,
        tool="kb.relate",
        parameter="relation",
        description="",
        candidates=candidates,
    )


@pytest.mark.conformance("HZN-07")
@pytest.mark.parametrize(
    ("argument", "candidate"),
    [
        ("place_of_birth", "place of birth"),
        ("placeOfBirth", "place of birth"),
        ("Place of the birth", "place of birth"),
        ("places of birth", "place of birth"),
        ("countries", "country"),
        ("martial status", "marital status"),
        ("Curaçao", "curacao"),
        ("U.S.", "U S"),
    ],
)
def test_the_same_words_written_otherwise_are_a_match(argument: str, candidate: str) -> None:
    assert match(task(argument, "something else", candidate)).match == candidate


@pytest.mark.conformance("HZN-07")
@pytest.mark.parametrize(
    ("argument", "candidates"),
    [
        ("parent of", ("child of", "parent")),
        ("founder by", ("founded by",)),
        ("employer", ("employee",)),
        ("country", ("county",)),
        ("mother", ("other",)),
        ("birth place", ("place of birth",)),
        ("prescription", ("proscription",)),
        ("version 12", ("version 21", "version 1")),
        ("10 %", ("10",)),
        ("from", ("form",)),
        ("U S", ("U.S.", "u-s")),
        ("", ("",)),
    ],
)
def test_what_may_mean_another_thing_is_none(argument: str, candidates: tuple[str, ...]) -> None:
    assert match(task(argument, *candidates)).match is None


def test_the_built_in_model_plays_the_role() -> None:
    asked = task("PLACE-OF-BIRTH", "place of birth", "place of death")
    messages = (
        Message(role="system", content=MATCHER.instructions),
        Message(role="user", content=asked.model_dump_json()),
    )

    request = ModelRequest(model="extractive", role="matcher", messages=messages, answer_schema={})

    assert play_role(request) == MatcherAnswer(match="place of birth")
