"""Tests of what the verifier is told about the job around the results."""

from holdfast.models.calls.job_setting import JobSetting
from holdfast.models.verification.verifier_messages import ResultToVerify
from holdfast.planning.verification.verifier_answer_to_verdict import verifier_tasks


def test_the_verifier_is_told_the_date_the_documents_and_what_the_person_said() -> None:
    setting = JobSetting(today="2026-11-24", collection="1 document (md), 1 passage: lights.md")
    result = ResultToVerify(id="T1", sub_question="Who lit the lamp?", result=())

    (task,) = verifier_tasks("Who?", setting, [result], [], ("Look at the log books.",))

    assert (task.today, task.collection) == (setting.today, setting.collection)
    assert task.guidance == ("Look at the log books.",)
