"""Tests of the cited loop of the built-in model: what it sends, and what it cannot answer."""

import pytest

from holdfast.models.calls.model_requests import FunctionOffer, Message, ModelRequest
from holdfast.models.errors import ModelUnusable
from holdfast.models.loop.loop_functions import MAX_QUERY_CHARS, SEARCH
from holdfast.models.loop.loop_messages import (
    LoopTask,
    ResultMessage,
    ShownCall,
    ShownPassage,
)
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.extractive.loop.loop_rules import play_loop

QUESTION = f"Who signed the lease of {'x' * 480}?"
CORRECTION = "Your answer was not accepted:\n- `search` needs a query"


def loop_request(question: str, *said: Message) -> ModelRequest:
    task = LoopTask(question=question, today="2026-11-28")
    first = Message(role="user", content=task.model_dump_json())
    search = FunctionOffer(name=SEARCH, description="", parameters={}, strict_parameters={})
    return ModelRequest(
        model=EXTRACTIVE_MODEL,
        role=RoleName.LOOP_AGENT,
        messages=(first, *said),
        functions=(search,),
    )


def test_a_query_is_never_longer_than_the_loop_accepts() -> None:
    (call,) = play_loop(loop_request(QUESTION)).calls

    assert call.name == SEARCH
    assert [len(query) <= MAX_QUERY_CHARS for query in call.arguments["queries"]] == [True]
    assert "x" * 300 in call.arguments["queries"][0]


def test_a_correction_that_the_rules_cannot_follow_is_named() -> None:
    reply = Message(role="assistant", content=play_loop(loop_request(QUESTION)).model_dump_json())

    with pytest.raises(ModelUnusable, match="cannot correct its reply: Your answer was not"):
        play_loop(loop_request(QUESTION, reply, Message(role="user", content=CORRECTION)))


def test_a_doubtful_value_next_to_a_passage_is_not_the_short_answer() -> None:
    """The search that is content with a passage gives a value as well, if there is one."""
    question = "Who is the wife of Tom Hale?"
    text = "Tom Hale went to the fair. Ada Quill saw him."
    said: list[Message] = []

    for n in range(1, 5):
        reply = play_loop(loop_request(question, *said))
        if reply.calls[0].name != SEARCH:
            break
        passage = ShownPassage(n=n, title="Fair", text=text)
        shown = ShownCall(call=str(reply.calls[0].arguments), passages=(passage,))
        content = ResultMessage(results=((shown,),)).model_dump_json()
        said += [
            Message(role="assistant", content=reply.model_dump_json()),
            Message(role="user", content=content),
        ]

    assert reply.calls[0].arguments["short"] == ""
    assert reply.calls[0].arguments["open"]
