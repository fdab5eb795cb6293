"""Tests for the comparison of a recorded request with today's request."""

from holdfast.models.calls.model_requests import Message, ModelRequest
from holdfast.roles.dialogue.recorded_content import asks_the_same
from holdfast.roles.tasks.reasoner import REASONER, ReasonerTask

TASK = ReasonerTask(question="Who?", description="deduce", inputs=(), outputs=())


def request(*replies: str, system: str = "Reason.", model: str = "m") -> ModelRequest:
    """The request for the next part, after these replies and a fault in each."""
    messages = [
        Message(role="system", content=system),
        Message(role="user", content=TASK.model_dump_json()),
    ]
    for reply in replies:
        fault = Message(role="user", content=f"{system} Not accepted.")
        messages += [Message(role="assistant", content=reply), fault]
    return ModelRequest(model=model, role="reasoner", messages=tuple(messages))


def test_other_words_ask_the_same() -> None:
    assert asks_the_same(REASONER, request("a"), request("a", system="Think."))


def test_another_model_or_other_replies_do_not_ask_the_same() -> None:
    assert not asks_the_same(REASONER, request(), request(model="n"))
    assert not asks_the_same(REASONER, request("a"), request("b"))
    assert not asks_the_same(REASONER, request("a"), request())


def test_a_prompt_in_another_form_does_not_ask_the_same() -> None:
    other = ModelRequest(
        model="m", role="reasoner", messages=(Message(role="user", content='{"asked": "Who?"}'),)
    )

    assert not asks_the_same(REASONER, other, request())
