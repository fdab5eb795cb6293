"""Continue the transcript of a loop: its first message, and the results of each turn's calls.

Every message is stored before the model sees it, so an attempt that another worker takes over
sends the same words, and the call ledger has the answer. The transcript only grows: each request
begins with the whole request before it.
"""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Literal

from holdfast.activities.agents.agent_turn_rules import AgentTurn
from holdfast.activities.agents.earlier_attempts import ROOM_FOR_CALLS, load_earlier_attempts
from holdfast.activities.agents.given_passages import given_passages
from holdfast.activities.agents.loop_compaction import keep_sentences
from holdfast.activities.agents.shown_steps import (
    MAX_CALL,
    ShownSteps,
    answered_question,
    call_in_words,
    content_of,
    guidance_count,
    kept_passages,
    shown_passages,
)
from holdfast.models.calls.model_requests import Message
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.loop.loop_messages import (
    BriefMessage,
    LoopTask,
    ResultMessage,
    ShownCall,
)
from holdfast.models.loop.loop_results import NumberedPassage, Transcript, TranscriptMessage
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.wire import call_places
from holdfast.planning.loop.loop_limits import reason_to_answer
from holdfast.planning.loop.loop_tools import LoopTools
from holdfast.planning.loop.passage_numbers import PassageNumbers
from holdfast.planning.text.bounded_entries import left_out_in_words, newest_that_fit
from holdfast.planning.text.token_estimates import estimate_tokens
from holdfast.roles.loop.loop_agent import INSTRUCTIONS
from holdfast.storage.core import receipt_rows
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.collection_description import collection_in_words
from holdfast.storage.jobs.job_control_rows import guidance_of
from holdfast.storage.ledger.spending_queries import tokens_of
from holdfast.storage.plans import transcript_rows
from holdfast.storage.plans.given_quote_queries import (
    GivenQuote,
    quotes_of_report,
    quotes_of_tasks,
    replaced_tasks_of,
)
from holdfast.storage.plans.transcript_rows import LoopAttempt, ReadPassage


@dataclass(frozen=True)
class LoopTranscript:
    """The stored transcript of one attempt at an agent task."""

    db: Database
    turn: AgentTurn
    tools: LoopTools
    request: JobRequest
    stored: Transcript = field(default_factory=Transcript)

    @classmethod
    async def load(
        cls, db: Database, turn: AgentTurn, tools: LoopTools, request: JobRequest
    ) -> "LoopTranscript":
        """The transcript as far as it is stored."""
        return await cls(db, turn, tools, request).reloaded()

    async def reloaded(self) -> "LoopTranscript":
        """The transcript as it is stored now."""
        job_id = self.turn.order.job_id
        stored = await transcript_rows.load_transcript(self.db, job_id, self.place)
        return replace(self, stored=stored)

    @property
    def question(self) -> str:
        """The question as models are asked it; the whole question with those that it follows."""
        task = self.turn.view.task
        return self.request.question_in_context if task.answers_whole_question else task.description

    @property
    def first_query(self) -> str:
        """What the first search looks for; "it" in a follow-up finds nothing by itself."""
        task = self.turn.view.task
        return self.request.query_in_context if task.answers_whole_question else task.description

    @property
    def messages(self) -> tuple[TranscriptMessage, ...]:
        """The messages since the last compaction."""
        return self.stored.messages

    @property
    def passages(self) -> tuple[NumberedPassage, ...]:
        """All passages that were shown."""
        return self.stored.passages

    @property
    def place(self) -> LoopAttempt:
        """The attempt that the transcript belongs to."""
        return LoopAttempt(self.turn.order.task_id, self.turn.order.attempt)

    @property
    def last(self) -> TranscriptMessage | None:
        """The last message; None if there is none."""
        return self.messages[-1] if self.messages else None

    @property
    def as_messages(self) -> tuple[Message, ...]:
        """The transcript as a model gets it."""
        return tuple(Message(role=each.role, content=each.content) for each in self.messages)

    @property
    def must_answer(self) -> str:
        """Why the agent must answer now, as it was told; empty if it may go on."""
        told = (content_of(each).get("must_answer") for each in self.messages)
        return str(next((why for why in told if why), ""))

    @property
    def turns(self) -> int:
        """How many replies the model has given."""
        return self.stored.replies

    async def opened(self, first_steps: Sequence[StoredTask]) -> "LoopTranscript":
        """The transcript with its first message, which has the first search."""
        numbers = PassageNumbers()
        before = await load_earlier_attempts(self.db, self.turn, self.tools.search_name)
        given = given_passages([*before.quotes, *await self._given_quotes()], numbers)
        shown = await self._shown(first_steps, numbers)
        first = tuple(self._without_question(shown.step(each)) for each in first_steps)
        task = await self._task(first, await self._reason_to_answer([]))
        whole = {each.n for call in first for each in call.passages if each.text}
        kept = tuple(each for each in given.shown if each.n not in whole)
        values = self.turn.view.bounded_given.left_out
        left_out = {"given": values, "kept": given.left_out, **before.left_out}
        task = task.model_copy(
            update={
                "kept": kept,
                "earlier_attempt": before.shown,
                "left_out": left_out_in_words(left_out),
            }
        )
        return await self.with_messages(_opening(task), [*given.read, *shown.read_passages()])

    def _without_question(self, shown: ShownCall) -> ShownCall:
        """The first search; its query is not said again if it is the question itself."""
        question = shorten_text(" ".join(self.first_query.split()), MAX_CALL)
        return shown.model_copy(update={"call": ""}) if shown.call == question else shown

    async def _given_quotes(self) -> list[GivenQuote]:
        """The quotes that show what the task was given, and what it continues.

        A task that replaces a failed one may cite what that one has proven, and a follow-up what
        the report before it cites.
        """
        view, job_id = self.turn.view, self.turn.order.job_id
        names = [each.task.id for each in view.others] if view.task.include_context else []
        replaced = await replaced_tasks_of(self.db, job_id, view.stored)
        quotes = await quotes_of_tasks(self.db, job_id, [*names, *replaced])
        before = self.request.followed_job
        if before is None or not view.task.answers_whole_question:
            return quotes
        cited = await quotes_of_report(self.db, before)
        return [*map(self._whole_passage, cited), *quotes]

    def _whole_passage(self, cited: GivenQuote) -> GivenQuote:
        """The passage around a quote of another job.

        A new question asks for what stands around the quote. No step of this job has read the
        passage: it is under the loop's own task.
        """
        task, attempt = self.place
        end = len(cited.passage.text)
        return cited._replace(start=0, end=end, step_id=task, step_attempt=attempt)

    async def _task(self, first: tuple[ShownCall, ...], must_answer: str) -> LoopTask:
        view = self.turn.view
        return LoopTask(
            question=self.question,
            criteria=view.task.criteria,
            today=view.setting.today,
            collection=await collection_in_words(self.db, self.request.collection),
            expects=view.task.promised_values,
            given=view.bounded_given.shown,
            hints=view.hints,
            tools=self.tools.lines,
            instructions="" if view.task.answers_whole_question else view.agent.instructions,
            guidance=await guidance_of(self.db, self.turn.order.job_id),
            first_search=first,
            must_answer=must_answer,
        )

    async def with_results(self, reply: TranscriptMessage) -> "LoopTranscript":
        """The transcript with the results of the reply's calls."""
        known = ((each.number, each.passage) for each in self.passages)
        numbers = PassageNumbers.of(known, self._visible())
        steps = {each.task.id: each for each in self.turn.view.steps}
        made = [steps[name] for call in reply.steps for name in call if name in steps]
        shown = await self._shown(made, numbers)
        results = tuple(
            tuple(shown.step_or_note(steps.get(name), name) for name in call)
            or (answered_question(self.turn.view.answers),)
            for call in reply.steps
        )
        news = [*self._news(), len(numbers.added)] if made else []
        told = ResultMessage(
            results=results,
            guidance=await self._new_guidance(),
            must_answer=await self._reason_to_answer(news),
        )
        read = shown.read_passages()
        message = _user_message(told)
        if self._tokens(message) <= self.turn.model_caller.transcript_tokens:
            return await self.with_messages([message], read)
        return await self._compacted(told, read)

    async def _compacted(
        self, told: ResultMessage, read: Sequence[ReadPassage]
    ) -> "LoopTranscript":
        """The transcript after a compaction: kept sentences, and the newest results whole."""
        before = await load_earlier_attempts(self.db, self.turn, self.tools.search_name)
        tried = [call_in_words(each, self.tools.search_name) for each in self.turn.view.steps]
        newest = newest_that_fit(tried, ROOM_FOR_CALLS, len)
        visible = self._visible()
        kept = await keep_sentences(
            self.turn.model_caller,
            self.question,
            tried,
            [each for each in self.passages if each.number in visible],
            self.passages,
            carried=self._carried(),
            place=call_places.compaction_place(self.turn.order.turn),
            most_tokens=self.turn.model_caller.transcript_tokens // 2,
        )
        news = _without_lost_numbers(told, {each.n for each in kept})
        task = (await self._task(news, told.must_answer)).model_copy(
            update={
                "kept": kept,
                "tried": newest.shown,
                "earlier_attempt": before.shown,
                "left_out": left_out_in_words(
                    {
                        "given": self.turn.view.bounded_given.left_out,
                        "tried": newest.left_out + before.left_out.get("tried", 0),
                    }
                ),
            }
        )
        stored = self.stored.model_copy(update={"compactions": self.stored.compactions + 1})
        return await replace(self, stored=stored).with_messages(_opening(task), read)

    def _tokens(self, more: Message) -> int:
        texts = [more.content, *(each.content for each in self.messages)]
        return sum(map(estimate_tokens, texts))

    def _visible(self) -> set[int]:
        """The passages whose text is in the messages."""
        return {
            int(passage["n"])
            for message in self.messages
            for passage in shown_passages(content_of(message))
            if passage.get("text")
        }

    def _carried(self) -> dict[int, list[str]]:
        """The sentences that an earlier compaction kept."""
        kept = [each for message in self.messages for each in kept_passages(content_of(message))]
        return {each.n: list(each.sentences) for each in kept}

    async def with_messages(
        self,
        messages: Sequence[Message],
        passages: Sequence[ReadPassage] = (),
        steps: tuple[tuple[str, ...], ...] = (),
    ) -> "LoopTranscript":
        """The transcript with these messages, stored; `steps` belong to the last one.

        Raises:
            Overtaken: another attempt has decided this turn, so the messages are out of date.
        """
        rows = [
            TranscriptMessage(
                position=self.stored.next_position + n,
                role=each.role,
                content=each.content,
                steps=steps if n == len(messages) - 1 else (),
            )
            for n, each in enumerate(messages)
        ]
        order = self.turn.order
        async with self.db.job(order.job_id, order.epoch) as tx:
            await receipt_rows.refuse_second_receipt(tx, order.receipt_key)
            await transcript_rows.store_passages(tx, self.place, passages)
            await transcript_rows.store_messages(tx, self.place, rows, self.stored.compactions)
        return await self.reloaded()

    async def _shown(self, steps: Sequence[StoredTask], numbers: PassageNumbers) -> ShownSteps:
        names = [each.task.id for each in steps]
        answers = await transcript_rows.answers_of_steps(self.db, self.turn.order.job_id, names)
        return ShownSteps(steps, answers, numbers, self.tools.search_name)

    def _news(self) -> list[int]:
        """For each earlier turn with calls, how many passages were new."""
        new_by_step = Counter(each.step_id for each in self.passages)
        return [
            sum(new_by_step[name] for call in message.steps for name in call)
            for message in self.messages[:-1]
            if any(message.steps)
        ]

    async def _reason_to_answer(self, news: Sequence[int]) -> str:
        limit = self.turn.order.must_end or await self._token_limit()
        return reason_to_answer(self.turns, news, self.turn.strategy.max_turns, limit)

    async def _token_limit(self) -> str:
        """The limit of this loop's tokens, if they are spent; empty: there is room."""
        most, order = self.turn.strategy.max_loop_tokens, self.turn.order
        if most is None:
            return ""
        async with self.db.reading() as connection:
            spent = await tokens_of(connection, order.job_id, order.task_id)
        total = spent.input + spent.output
        return f"{total:,} tokens were spent (max_loop_tokens {most:,})" if total >= most else ""

    async def _new_guidance(self) -> tuple[str, ...]:
        """What the user has said since the last message that the agent was sent."""
        told = sum(guidance_count(each) for each in self.messages)
        return (await guidance_of(self.db, self.turn.order.job_id))[told:]


def _opening(task: LoopTask) -> list[Message]:
    return [Message(role="system", content=INSTRUCTIONS), _user_message(task)]


def _without_lost_numbers(told: ResultMessage, kept: Set[int]) -> tuple[ShownCall, ...]:
    """The results without the numbers of passages of which the new first message has nothing."""
    results = [shown for call in told.results for shown in call]
    known = kept | {each.n for shown in results for each in shown.passages}
    above = (tuple(n for n in shown.shown_above if n in known) for shown in results)
    return tuple(
        shown.model_copy(update={"shown_above": numbers})
        for shown, numbers in zip(results, above, strict=True)
    )


def _user_message(content: BriefMessage) -> Message:
    role: Literal["user"] = "user"
    return Message(role=role, content=content.model_dump_json(exclude_defaults=True))
