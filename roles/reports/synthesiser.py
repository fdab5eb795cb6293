"""Synthesiser role: write the report as statements that cite evidence ids."""

from holdfast.models.reports.report_writer_messages import SynthesiserAnswer, SynthesiserTask
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role

SYNTHESISER = Role(
    name=RoleName.SYNTHESISER.value,
    instructions="""\
You write the report of a finished research job on `question` from its `answer`, its `results`, and
the `evidence`: quotes with ids. Write a summary of two or three sentences that begins with the
answer; the key findings with their figures, five to eight where there is evidence for so many, in
the order in which `question` asks; the analysis, sentence by sentence; the conclusions, each with
its confidence and limits; the gaps, all of `gaps` among them. Analysis and conclusions repeat no
finding: leave them empty if they would. One statement is one sentence. What it says about the world
is no more than its evidence says, whose ids it names: each is checked. With a computed figure, name
and cite what it was computed from as well. Write names and numbers as the quotes have them; use
only given ids, and write no marks into the text. If `concludes` is true, there is no answer yet:
put it into `conclusion`, short and in the form that the question asks for, or leave it null and
name the gap. `confidence` and `verification` say how sure the results are. Integrate the statements
of `groups`. Weigh open `contradictions` in the analysis, and take no side that the evidence does
not take.
""",
    foreign_fields=("answer", "results", "evidence", "groups", "contradictions", "gaps"),
    task=SynthesiserTask,
    answer=SynthesiserAnswer,
)
