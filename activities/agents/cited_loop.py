"""Let an agent work as a cited loop: one transcript, several searches a turn, a proven answer.

A turn of the workflow (`advance_agent`) asks the model for its next calls. Searches and tool calls
become steps of the agent task, each an activity of its own; their results are the next message of
the transcript. An answer is proven in the same turn: rules check every quote, number and passage
number, one judge call sees all sentences, what is refused goes back alone, once. The transcript is
in PostgreSQL, message by message, so a turn that another worker takes over continues where the
first one was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from holdfast.activities.agents.agent_turn_rules import AgentTurn, TurnDecision, failed_result
from holdfast.activities.agents.loop_proof import AnswerProof, LoopProof, Promise
from holdfast.activities.agents.loop_result import agent_result
from holdfast.activities.agents.loop_transcript import LoopTranscript
from holdfast.activities.agents.shown_steps import content_of
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.models.calls.function_calls import FunctionCalls
from holdfast.models.calls.model_requests import Message, ModelRequest
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.loop.loop_functions import AskArguments, LoopAnswer, SplitArguments
from holdfast.models.loop.loop_messages import RefusalMessage
from holdfast.models.loop.loop_results import LoopResult, TranscriptMessage
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.wire import call_places
from holdfast.planning.loop.answer_corrections import RefusedAnswer, with_corrections
from holdfast.planning.loop.handover import handover_of
from holdfast.planning.loop.loop_reply import LoopCall, ReplyRules
from holdfast.planning.loop.loop_steps import LoopSteps, sub_questions_of
from holdfast.planning.loop.loop_tools import LoopTools
from holdfast.roles.loop.loop_agent import ROLE, offered_functions
from holdfast.storage.core.database import Database

_CORRECT = (
    "Call `answer` with these sentences alone, corrected, each with its number in `replaces`: copy "
    "quotes from the passages, cite a passage for each number and name, or say less. Leave out a "
    "sentence that no passage shows. Leave `short` empty unless it changes; `open` has only what "
    "is new."
)
_CORRECT_VALUES = (
    "Search once more, or call `answer` with the refused alone, corrected: values under their "
    "names, sentences with their number in `replaces`. Copy quotes from the passages, and cite a "
    "passage for each value. Leave out what no passage shows, and name it in `open`."
)
_GO_ON = (
    "Search for what is missing; or call `answer` again, whole, and name in `open` what is "
    "inferred or not stated."
)


@dataclass(frozen=True)
class CitedLoop:
    """One turn of an agent that works as a loop."""

    turn: AgentTurn
    transcript: LoopTranscript
    judge: ModelCaller | None

    @classmethod
    async def open(
        cls, db: Database, turn: AgentTurn, judge: ModelCaller | None, request: JobRequest
    ) -> "CitedLoop":
        """The loop as far as its transcript is stored."""
        tools = LoopTools.of(turn.view.tools)
        return cls(turn, await LoopTranscript.load(db, turn, tools, request), judge)

    async def decide(self) -> TurnDecision:
        """Return the turn's decision: calls to make, a question, or the result.

        Raises:
            Passing: the model is busy; transcript and ledger keep what was answered.
            Lasting: the model refused.
        """
        view = self.turn.view
        if not self.transcript.messages and not view.steps:
            planned = view.first_queries
            first = self._steps.first_search(self.transcript.first_query, planned)
            if first:
                return TurnDecision(steps=first, explanation="the first search")
        continued = await self._with_news()
        last = continued.transcript.last
        if last is None or last.role != "assistant":
            return await continued.ask_model()
        return await continued.decide_from_reply()

    async def _with_news(self) -> "CitedLoop":
        """The loop with the message that the model gets next, if its last reply was carried out."""
        transcript = self.transcript
        last = transcript.last
        if last is None:
            return replace(self, transcript=await transcript.opened(self.turn.view.steps))
        if last.role != "assistant" or not self._is_carried_out(last):
            return self
        return replace(self, transcript=await transcript.with_results(last))

    def _is_carried_out(self, reply: TranscriptMessage) -> bool:
        """True if the reply's steps are in the plan, or its question is answered."""
        wanted = {name for call in reply.steps for name in call}
        if wanted:
            return wanted <= set(self.turn.view.used_ids)
        asked = [call.question for call in self._calls_of(reply) if isinstance(call, AskArguments)]
        return any(each.question in asked for each in self.turn.view.answers)

    async def ask_model(self) -> TurnDecision:
        """The decision of the model's next reply; a failure if no reply is valid."""
        rules, transcript = self._rules, self.transcript
        request = ModelRequest(
            model=self.turn.model_caller.model_of(ROLE),
            role=ROLE,
            messages=transcript.as_messages,
            functions=offered_functions(rules.functions),
        )
        dialogue = await self.turn.model_caller.hold_dialogue(
            request, FunctionCalls, place=self._place(), check=rules.faults
        )
        if dialogue.answer is None:
            why = f"the model gave no valid call: {'; '.join(dialogue.faults)}"
            return TurnDecision(end=failed_result(why))
        said = Message(role="assistant", content=dialogue.answer.model_dump_json())
        steps = self._steps.ids(rules.calls(dialogue.answer))
        stored = await transcript.with_messages([*dialogue.added[:-1], said], steps=steps)
        return await replace(self, transcript=stored).decide_from_reply()

    async def decide_from_reply(self) -> TurnDecision:
        """The decision that the last reply stands for."""
        last = self.transcript.messages[-1]
        calls = self._calls_of(last)
        if isinstance(calls[0], LoopAnswer):
            return await self._answered(calls[0])
        if isinstance(calls[0], AskArguments):
            return TurnDecision(question=calls[0].question, default=calls[0].default)
        if isinstance(calls[0], SplitArguments):
            return self._end(LoopResult(sub_questions=sub_questions_of(calls[0])))
        steps = self._steps.steps(calls, last.steps)
        told = "; ".join(step.description for step in steps)
        return TurnDecision(steps=steps, explanation=shorten_text(told, 500))

    async def _answered(self, answer: LoopAnswer) -> TurnDecision:
        """The result of an answer that is proven, after one correction at most."""
        refused = self._refused_answer()
        if refused is not None:
            answer = with_corrections(refused, answer)
        proof = await self._prove(answer)
        if proof.is_accepted or self._was_sent_back:
            return self._end(proof.result(is_repaired=self._was_sent_back))
        return await self._sent_back(proof)

    async def _prove(self, answer: LoopAnswer) -> AnswerProof:
        """The proof; sentences that rules refuse go back before a judge is paid for."""
        view = self.turn.view
        # Nothing more can be searched for at a limit: an uncertain value is then not sent back.
        threshold = None if self.transcript.must_answer else self.turn.strategy.confidence_threshold
        proving = LoopProof(
            view.task.description,
            self.transcript.passages,
            self.judge,
            Promise(view.task.promised_values, view.given, view.given_confidence, threshold),
            is_last=self._was_sent_back,
            shown_question=self.transcript.question,
        )
        by_rules = proving.by_rules(answer)
        if not by_rules.is_accepted and not self._was_sent_back:
            return by_rules
        return await proving.judged(by_rules, place=self._place(is_judge=True))

    async def _sent_back(self, proof: AnswerProof) -> TurnDecision:
        """The decision after the agent was told what is refused."""
        values = proof.refused_values()
        correct = _CORRECT_VALUES if values else _CORRECT
        told = RefusalMessage(
            refused=proof.refusals(),
            refused_values=values,
            not_following=proof.why_not,
            correct=_GO_ON if proof.why_not else correct,
        )
        message = Message(role="user", content=told.model_dump_json(exclude_defaults=True))
        told_loop = replace(self, transcript=await self.transcript.with_messages([message]))
        return await told_loop.ask_model()

    def _refused_answer(self) -> RefusedAnswer | None:
        """The answer whose refused sentences the last reply corrects; None if it corrects none."""
        has_searched = False
        for at in range(len(self.transcript.messages) - 2, 0, -1):
            message = self.transcript.messages[at]
            has_searched = has_searched or bool(message.steps)
            content = content_of(message)
            if "correct" in content:
                answer = self._calls_of(self.transcript.messages[at - 1])[0]
                if isinstance(answer, LoopAnswer):
                    is_alone = not has_searched and "not_following" not in content
                    return _refused_answer(answer, content, is_alone=is_alone)
        return None

    @property
    def _was_sent_back(self) -> bool:
        return any("correct" in content_of(each) for each in self.transcript.messages)

    def _end(self, result: LoopResult) -> TurnDecision:
        if self.turn.view.task.is_opening:
            least = self.turn.strategy.loop_confidence
            handover = handover_of(result, self.transcript.must_answer, least)
            result = result.model_copy(update={"handover": handover})
        return TurnDecision(end=agent_result(self.turn, result), loop_result=result)

    def _place(self, *, is_judge: bool = False) -> str:
        reply = self.transcript.turns + (0 if is_judge else 1)
        return call_places.loop_place(self.turn.order.turn, reply, is_judge=is_judge)

    @property
    def _rules(self) -> ReplyRules:
        task = self.turn.view.task
        return ReplyRules(
            tools=self.transcript.tools,
            asks=self.turn.strategy.questions,
            promises=task.promised_values,
            is_of_plan=not task.answers_whole_question,
            must_answer=self.transcript.must_answer,
            corrects=self._was_sent_back,
            splits=task.is_opening,
            is_first=self.transcript.turns == 0,
        )

    def _calls_of(self, message: TranscriptMessage) -> tuple[LoopCall, ...]:
        return self._rules.calls(FunctionCalls.model_validate_json(message.content))

    @property
    def _steps(self) -> LoopSteps:
        view = self.turn.view
        addresses = {each.number: each.passage.address for each in self.transcript.passages}
        return LoopSteps(view.task.id, self.transcript.tools, len(view.used_ids), addresses)


def _refused_answer(
    answer: LoopAnswer, content: Mapping[str, Any], *, is_alone: bool
) -> RefusedAnswer:
    """The answer, with what its refusal names."""
    return RefusedAnswer(
        answer,
        sentences=tuple(int(each["sentence"]) for each in content.get("refused", ())),
        values=tuple(str(each["name"]) for each in content.get("refused_values", ())),
        is_alone=is_alone,
    )
