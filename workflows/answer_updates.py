"""Accept the update that answers a question of a running job, and apply default answers."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from holdfast.activities import interfaces
    from holdfast.models.errors import BadInput
    from holdfast.models.jobs.activity_orders import AnswerOrder
    from holdfast.models.jobs.job_record import JobStatus
    from holdfast.models.questions.user_questions import AnswerRequest, OpenQuestion
    from holdfast.models.wire import stored_keys
    from holdfast.planning.questions.answer_choices import check_answer
    from holdfast.planning.scheduler import state_transitions as changes
    from holdfast.workflows.activity_calls import database_activity_config
    from holdfast.workflows.control_updates import ENGINE_ACTOR, ControlUpdates, errors_as_refusals
    from holdfast.workflows.temporal_display import STATUS_ATTRIBUTE


class AnswerUpdates(ControlUpdates):
    """The part of a job's workflow that receives answers to the job's questions."""

    @workflow.update
    async def answer(self, request: AnswerRequest) -> None:
        """Answer an open question; free text is read and checked in PostgreSQL."""
        async with self._one_change_at_a_time():
            self._may_answer(request)
            order = AnswerOrder(
                job_id=self.job_id,
                epoch=self.epoch,
                key=self._key(),
                question=request.question,
                by=request.by,
                choice=request.choice,
                words=request.words,
            )
            refused = await self._take_answer(order)
            if refused:
                raise BadInput(refused)

    @answer.validator
    def _check_answer(self, request: AnswerRequest) -> None:
        with errors_as_refusals():
            if self.state is not None:
                self._may_answer(request)

    def _may_answer(self, request: AnswerRequest) -> None:
        self._refuse_if_closing()
        question = next((q for q in self.known.questions if q.id == request.question), None)
        if question is None:
            raise BadInput(
                f"job {self.job_id} has no open question {request.question}; "
                f"`holdfast questions {self.job_id}` lists its questions"
            )
        check_answer(question.kind, request.choice, has_words=request.words is not None)

    async def answer_by_default(self, question: OpenQuestion) -> None:
        """Answer a question with its default once its deadline has passed.

        The deadline in PostgreSQL may be later: it moves by the length of an outage.
        """
        async with self._one_change_at_a_time():
            is_open = any(q.id == question.id for q in self.known.questions)
            if not is_open or self.is_ending or self.is_asked_to_cancel:
                return
            order = AnswerOrder(
                job_id=self.job_id,
                epoch=self.epoch,
                key=stored_keys.default_answer_key(question.id),
                question=question.id,
                by=ENGINE_ACTOR,
                by_default=True,
                deadline=question.deadline,
            )
            await self._take_answer(order)

    async def _take_answer(self, order: AnswerOrder) -> str:
        """Record the answer and apply its effect; return the reason if the answer is refused."""
        config = database_activity_config(
            order.key, f"answer question {order.question}: by {order.by}"
        )
        receipt = await self.run_activity(interfaces.record_answer, order, config)
        if not receipt.refused or order.by_default:
            was_paused = self.known.is_paused
            self.state = changes.apply_answer_receipt(self.known, order.question, receipt)
            if was_paused and not self.known.is_paused:
                running = STATUS_ATTRIBUTE.value_set(JobStatus.RUNNING.value)
                workflow.upsert_search_attributes([running])
            self.must_continue_as_new = self.must_continue_as_new or receipt.restarts_run
        return receipt.refused
