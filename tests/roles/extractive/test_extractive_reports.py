"""Tests for the built-in model's rules for writing, concluding, condensing and checking a report."""

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.models.reports.report_writer_messages import (
    MOST_FINDINGS,
    CondensedGroup,
    EvidenceItem,
    ResultItem,
    Statement,
    SynthesiserTask,
)
from holdfast.planning.reports.sentence_support import is_quotation, unsupported_parts
from holdfast.roles.extractive.reports.condenser_rules import condense
from holdfast.roles.extractive.reports.synthesiser_rules import synthesise
from holdfast.roles.extractive.verification.sentence_checker_rules import check_sentences
from holdfast.roles.reports.condenser import MOST_STATEMENTS, CondenserTask
from holdfast.roles.verification.sentence_checker import (
    CitedPassage,
    CitingSentence,
    SentenceCheckerTask,
    SupportLevel,
)

SIGNS = st.sampled_from("“”\"':;. \naBÉ19-,")
OPENED = "Selby Bridge was opened in 1932 by Ada Marsh."


def item(number: int, quote: str = OPENED, title: str = "Selby Bridge") -> EvidenceItem:
    return EvidenceItem(id=f"E{number}", title=title, quote=quote, shows="")


def task(**fields: object) -> SynthesiserTask:
    given = {"question": "Who opened Selby Bridge?", "answer": "Ada Marsh", "evidence": (item(1),)}
    return SynthesiserTask.model_validate(given | fields)


def test_the_summary_is_the_answer_and_the_findings_name_its_document() -> None:
    report = synthesise(task())

    assert [(each.text, each.evidence) for each in report.summary] == [("Ada Marsh.", ["E1"])]
    assert [each.text for each in report.findings] == [f"Selby Bridge: “{OPENED}”"]
    assert report.conclusion is None


def test_there_are_eight_findings_and_the_rest_is_analysis() -> None:
    many = tuple(item(n, f"{OPENED} Page {n}.") for n in range(1, 12))

    report = synthesise(task(evidence=many))

    assert [each.evidence for each in report.findings] == [[f"E{n}"] for n in range(1, 9)]
    assert len(report.findings) == MOST_FINDINGS
    assert [each.evidence for each in report.analysis] == [["E9"], ["E10"], ["E11"]]


def test_the_answer_is_a_conclusion_where_it_is_known_how_sure_it_is() -> None:
    assert synthesise(task()).conclusions == []
    (one,) = synthesise(task(confidence=0.8)).conclusions
    assert (one.text, one.confidence, one.evidence) == ("Ada Marsh.", 0.8, ["E1"])
    assert one.limits


def test_the_short_answer_is_concluded_from_the_results() -> None:
    result = ResultItem(
        task="T1", question="Who opened it?", status="done", values={"opener": "Ada Marsh"}
    )

    report = synthesise(task(answer=None, concludes=True, results=(result,)))
    nothing = synthesise(task(answer=None, concludes=True))

    assert report.conclusion == "Ada Marsh"
    assert report.summary[0].text == "Ada Marsh."
    assert nothing.conclusion is None
    assert nothing.gaps == ["The results do not come to one short answer."]


def test_what_groups_came_to_is_taken_over_with_its_evidence() -> None:
    told = Statement(text="Ada Marsh opened it.", evidence=["E1"])
    group = CondensedGroup(group="web", statements=(told, Statement(text="So be it.")))

    assert synthesise(task(groups=(group,))).findings == [told]


def test_a_group_is_condensed_to_the_quotes_nearest_to_the_question() -> None:
    far = tuple(item(n, f"Grey stone number {n} lies there.", "Stone") for n in range(1, 15))

    answer = condense(
        CondenserTask(
            question="Who opened Selby Bridge?", group="web", results=(), evidence=(*far, item(15))
        )
    )

    assert len(answer.statements) == MOST_STATEMENTS
    assert answer.statements[-1].evidence == ["E15"]


def test_a_sentence_is_supported_by_passages_that_have_its_words() -> None:
    told = {
        "S1": "Ada Marsh opened Selby Bridge.",
        "S2": "Ada Marsh opened Selby Bridge, and the crowd cheered loudly.",
        "S3": "Grey stones lie everywhere.",
    }
    sentences = tuple(CitingSentence(id=n, text=text, cites=("E1",)) for n, text in told.items())
    passage = CitedPassage(id="E1", title="Selby Bridge", text=OPENED)

    verdicts = check_sentences(SentenceCheckerTask(sentences=sentences, passages=(passage,)))

    assert [(each.id, each.verdict) for each in verdicts.verdicts] == [
        ("S1", SupportLevel.SUPPORTED),
        ("S2", SupportLevel.PARTLY),
        ("S3", SupportLevel.UNSUPPORTED),
    ]


@settings(deadline=None)  # the machine may be busy
@given(st.text(SIGNS, min_size=1, max_size=100), st.text(max_size=40))
def test_what_the_rules_write_of_a_quote_passes_the_checks(quote: str, title: str) -> None:
    report = synthesise(task(evidence=(item(1, quote, title),), answer=None))

    for each in report.findings:
        assert unsupported_parts(each.text, [f"{title}\n{quote}"]) == []


def test_what_the_rules_write_is_a_quotation() -> None:
    (finding,) = synthesise(task(evidence=(item(1),))).findings

    assert is_quotation(finding.text, [f"Selby Bridge\n{OPENED}"])
