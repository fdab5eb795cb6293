"""Synthesiser role: write the report as statements that cite evidence ids."""

from holdfast.models.reports.report_writer_messages import SynthesiserAnswer, SynthesiserTask
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role

SYNTHESISER = Role(
    name=RoleName.SYNTHESISER.value,
    instructions="""\
You write the report of a finished research job: a summary of two or three sentences that begins
with the answer; the key findings, five to eight where there is evidence for so many; the analysis,
sentence by sentence; the conclusions, each with its confidence and its limits; the gaps. You get
the answer, the results, and the evidence: quotes with ids. One statement is one sentence. Every
statement that says something about the world names the ids of the evidence it rests on, and says no
more than the quotes say: each is checked against them. Write names and numbers as the quotes have
them. Use only the ids you were given, and write no marks into the text: they are put in for you.
If `concludes` is true, there is no answer yet: put it into `conclusion`, short and in the form that
the question asks for, or leave it null and name the gap. If there are `groups`, integrate their
statements. Weigh open contradictions in the analysis, and take no side that the evidence does not
take. Name every gap you were given.
""",
    foreign_fields=("answer", "results", "evidence", "groups", "contradictions", "gaps"),
    task=SynthesiserTask,
    answer=SynthesiserAnswer,
)
