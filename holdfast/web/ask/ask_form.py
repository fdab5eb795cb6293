"""Read the form that asks a question."""

from starlette.datastructures import FormData

from holdfast.jobs.job_submission import JobSubmission
from holdfast.models.frozen_model import Frozen
from holdfast.web.rendering.amounts import limit_settings
from holdfast.web.rendering.form_texts import form_texts


class AskForm(Frozen):
    """The form as its user filled it in."""

    question: str = ""
    collection: str = ""
    preset: str = ""
    model: str = ""
    max_cost: str = ""
    max_tokens: str = ""
    review: str = ""
    key: str = ""
    upload: str = ""
    """The files that came with the question, which are read before it is asked; by id."""

    def submission(self) -> JobSubmission:
        """The job that is asked for.

        Raises:
            BadInput: a limit is no number.
        """
        return JobSubmission(
            question=self.question,
            collection=self.collection or None,
            preset=self.preset or None,
            model=self.model or None,
            settings=limit_settings(self.max_cost, self.max_tokens),
            review=bool(self.review),
        )


def read_ask_form(form: FormData) -> AskForm:
    """The fields of a form that was sent, without its files."""
    texts = form_texts(form)
    return AskForm(**{name: texts[name] for name in AskForm.model_fields if name in texts})
