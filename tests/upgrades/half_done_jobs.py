"""The jobs of a recorded installation: one of each preset that has ended, and one half done.

A job's name is in its question, its plan and its calls, so each request names its job. Every reply
hangs on the request alone. The model's first reply in each dialogue is no answer, so each dialogue
has two requests, and a job that stands still has dialogues of which one request is answered.
"""

import json
import re
import threading
from collections import Counter
from dataclasses import dataclass, field, replace

from holdfast.planning.strategies.strategy_presets import all_presets
from holdfast.roles.loop.answer_judge import ANSWER_JUDGE
from tests.support.endpoints.loop_script import ACCEPTED, answer, search, sentence, value, values
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, planner_answer
from tests.support.jobs.plan_builders import agent_task, final_task, lookup_task, plan

_NAME = re.compile(r"\[job ([\w-]+)\]")
_WHOLE, _HALF = "full", "half"
"""Of equal length: the scripted values are cut at a number of characters."""
_AGES_S = 3600.0
_LOOP_SEARCHES = 3
_PASSAGE = re.compile(r'"n":\s*(\d+)\D[^{}]*?"text":\s*"([^"]*)"')
_NO_ANSWER = ScriptedReply(content="Let me think about that.", is_lax=True)
_WITH_AGENTS = ("vmao", "research", "tdp")


def presets() -> list[str]:
    return list(all_presets())


def whole_job(preset: str) -> str:
    """The name of the job of this preset that nothing disturbs."""
    return f"{preset}-{_WHOLE}"


def half_job(preset: str) -> str:
    """The name of the job of this preset that stops in the middle."""
    return f"{preset}-{_HALF}"


def servers_of(preset: str) -> tuple[str, ...]:
    """The servers that the job names: a cited loop searches in these alone."""
    return ("lab",) if preset in ("loop", "research") else ()


def question_of(job: str) -> str:
    return f"[job {job}] Who and where?"


def without_name(text: str) -> str:
    """The text without the name of a job, to compare two jobs."""
    return _NAME.sub("", text)


def page(argument: str) -> str:
    """The answer of every tool."""
    return f"found {argument}"


@dataclass
class HalfDoneScript:
    """Plays every role; answers so many requests of a job, and lets the others wait."""

    limits: dict[str, int] = field(default_factory=dict)
    arrived: Counter[str] = field(default_factory=Counter)
    _players: ScriptedRoles = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._players = ScriptedRoles(parts={"planner": _plan})

    @property
    def standing(self) -> set[str]:
        """The jobs of which a request waits."""
        return {job for job, most in self.limits.items() if self.arrived[job] > most}

    def __call__(self, asked: ReceivedRequest) -> ScriptedReply:
        job = _job_of(asked)
        with self._lock:
            self.arrived[job] += 1
            has_to_wait = self.arrived[job] > self.limits.get(job, 10_000)
        reply = self._reply(asked) if asked.is_correction else _NO_ANSWER
        return replace(reply, delay=_AGES_S) if has_to_wait else reply

    def _reply(self, asked: ReceivedRequest) -> ScriptedReply:
        if asked.rung == "tools":  # a loop; its instructions are those of the recording
            return _loop_reply(asked)
        if asked.plays(ANSWER_JUDGE):
            return ScriptedReply.playing(ANSWER_JUDGE, ACCEPTED)
        return self._players(asked)


def _job_of(asked: ReceivedRequest) -> str:
    said = next(turn["content"] for turn in asked.turns if turn["role"] == "user")
    found = _NAME.search(said)
    assert found, f"the request belongs to no job: {said[:300]}"
    return found.group(1)


def _loop_reply(asked: ReceivedRequest) -> ScriptedReply:
    """Some searches after the first reply, then an answer with the words of the last passage.

    A loop that a plan can follow finds nothing after one search, and hands over; an agent of the
    plan returns what it promises after one search.
    """
    turn = sum(each["role"] == "assistant" for each in asked.turns)
    promised = asked.task.get("expects", ())
    hands_over = _job_of(asked).startswith("research") and not promised
    if hands_over and turn > 1:
        return ScriptedReply.calling(answer("", open=["who it is"]))
    if turn <= (1 if promised else _LOOP_SEARCHES):
        # Each agent has words of its own: a job makes the same call twice at most.
        about = f"{asked.task['question']} " if promised else f"[job {_job_of(asked)}] "
        return ScriptedReply.calling(search(f"{about}link {turn}"))
    last = json.loads(asked.turns[-1]["content"].split("\n")[0])
    number, text = _PASSAGE.findall(json.dumps(last))[-1]
    if promised:
        found = [value(each["name"], text, int(number), text) for each in promised]
        return ScriptedReply.calling(values(*found))
    return ScriptedReply.calling(answer(text, sentence(text, int(number), text)))


def _plan(asked: ReceivedRequest) -> object:
    job = _job_of(asked)
    about = f"[job {job}]"
    if job.startswith(_WITH_AGENTS):
        last = "final_answer" if job.startswith("tdp") else "value"
        return planner_answer(
            plan(
                agent_task("T1", about=f"{about} Who?"),
                agent_task("T2", about=f"{about} Where?"),
                agent_task("T3", "T1", "T2", about=f"{about} Together?", yields=last),
            )
        )
    return planner_answer(
        plan(
            lookup_task("T1", query=f"{about} a"),
            lookup_task("T2", query=f"{about} b"),
            lookup_task("T3", "T1", query=f"{about} c"),
            final_task("T4", "T2", "T3"),
        )
    )
