"""How a running job is answered: by people, through an update, or by a question's default."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities import interfaces
    from models.errors import BadInput
    from models.jobs import JobStatus
    from models.orders import AnswerOrder
    from models.questions import AnswerRequest
    from planning import state as changes
    from planning.answers import check_answer
    from workflows.calling import bookkeeping
    from workflows.controls import OWN, Controls, refusing
    from workflows.display import STATUS


class Answers(Controls):
    """The part of a job's workflow that takes answers to what the job asked."""

    @workflow.update
    async def answer(self, request: AnswerRequest) -> None:
        """Answer an open question; what its words say is checked where they are, in PostgreSQL."""
        async with self._in_turn():
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
        with refusing():
            if self.state is not None:
                self._may_answer(request)

    def _may_answer(self, request: AnswerRequest) -> None:
        self._takes_changes()
        asked = next((each for each in self.known.questions if each.id == request.question), None)
        if asked is None:
            raise BadInput(
                f"job {self.job_id} has no open question {request.question}; "
                f"`holdfast answer {self.job_id}` lists those it has"
            )
        check_answer(asked.kind, request.choice, has_words=request.words is not None)

    async def answer_by_default(self, question: int) -> None:
        """Take the default as the answer of a question whose deadline has passed."""
        async with self._in_turn():
            is_open = any(each.id == question for each in self.known.questions)
            if not is_open or self.is_ending or self.is_asked_to_cancel:
                return
            order = AnswerOrder(
                job_id=self.job_id,
                epoch=self.epoch,
                key=f"default-{question}",
                question=question,
                by=OWN,
                by_default=True,
            )
            await self._take_answer(order)

    async def _take_answer(self, order: AnswerOrder) -> str:
        """Record the answer and go on with what it means; gives why it was not taken, if so."""
        config = bookkeeping(order.key, f"answer question {order.question}: by {order.by}")
        receipt = await workflow.execute_activity(interfaces.record_answer, order, **config)
        if not receipt.refused or order.by_default:
            was_paused = self.known.is_paused
            self.state = changes.answered(self.known, order.question, receipt)
            if was_paused and not self.known.is_paused:
                running = STATUS.value_set(JobStatus.RUNNING.value)
                workflow.upsert_search_attributes([running])
            self.must_roll = self.must_roll or receipt.begins_anew
        return receipt.refused
