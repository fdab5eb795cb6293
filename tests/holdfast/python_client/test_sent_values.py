"""Tests that an empty value is sent as such: the server says what it means, or refuses it."""

import json

from holdfast import Client
from tests.support.services.fixed_server import FixedServer


def test_an_empty_value_of_a_submission_is_not_left_out() -> None:
    with FixedServer(202, {}, b'{"job_id": "job-1"}') as server, Client(server.url) as client:
        client.submit("Who?", servers=[], settings={}, key="")
        client.submit("Who?")

    assert [json.loads(body) for body in server.bodies] == [
        {"question": "Who?", "servers": [], "settings": {}},
        {"question": "Who?"},
    ]
    assert server.keys[0] == ""
    assert server.keys[1]


def test_an_empty_value_of_a_fork_is_not_left_out() -> None:
    with FixedServer(202, {}, b"{}") as server, Client(server.url) as client:
        client.fork("job-1", model="", plan="", settings={}, questions={}, key="")
        client.preview_fork("job-1", "T1")

    assert [json.loads(body) for body in server.bodies] == [
        {"tasks": [], "model": "", "plan": "", "settings": {}, "questions": {}, "retract": []},
        {"tasks": ["T1"], "retract": []},
    ]
    assert server.keys[0] == ""
