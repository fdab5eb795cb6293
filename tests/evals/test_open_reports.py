"""Tests for open reports: public sets as published, scores by rules, a judge, and one whole run."""

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from holdfast.evals.open_reports.public_sets import RubricItem, read_open_questions, rubric_share
from holdfast.evals.open_reports.report_judge import (
    QUALITY_JUDGE,
    RUBRIC_BATCH,
    CitedSource,
    QualityTask,
    ReportJudge,
    agreement,
)
from holdfast.evals.open_reports.rule_scores import CitedClaim, score_by_rules
from holdfast.models.calls.call_progress import CallProgress
from holdfast.models.calls.model_requests import Completion, ModelRequest
from holdfast.models.errors import BadInput, MalformedReply
from holdfast.models.evidence.evidence import Citation, Report, ReportStatement, StoredEvidence
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply

TEXT = "The Gannet light was lit in 1871. It is 34 m tall."


def read(path: Path, *rows: object) -> Any:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return read_open_questions(path)


def test_public_sets_are_read_as_they_are_published(tmp_path: Path):
    item = {"criterion": "Breadth", "explanation": "Covers all.", "weight": 0.5}
    bench = {
        "id": 51,
        "language": "en",
        "prompt": "Who?",
        "dimension_weight": {"insight": 0.4},
        "criterions": {"insight": [item]},
    }
    two = {
        "id": "task1+",
        "idx": 2,
        "prompt": "Why?",
        "content": {
            "task": "Why?",
            "rubric": {"info_recall": ["Says 79%."], "analysis": ["Explains."]},
            "blocked": {"urls": ["https://a.example/paper"]},
        },
    }
    criteria = [{"id": "c", "weight": -10, "requirement": "States a wrong year."}]
    draco = {
        "problem": "What?",
        "domain": "Law",
        "answer": json.dumps({"sections": [{"title": "Accuracy", "criteria": criteria}]}),
    }
    plus = {
        "query_id": 7,
        "query": "Which?",
        "answer": "A",
        "gold_docs": [{"docid": "1", "url": "u1", "text": "A."}],
        "evidence_docs": [{"docid": "1", "url": "u1", "text": "A."}],
        "negative_docs": [{"docid": "2", "url": "u2", "text": "B."}],
    }
    tsv = tmp_path / "test.tsv"
    tsv.write_text(
        '\tPrompt\tAnswer\twiki_links\treasoning_types\n0\t"Is ""A""\nB?"\tParis\t[]\tTabular\n'
    )

    [one] = read(tmp_path / "criteria.jsonl", bench)
    [other] = read(tmp_path / "tasks.jsonl", two)
    [law] = read(tmp_path / "draco.jsonl", draco)
    [fixed] = read(tmp_path / "plus.jsonl", plus)
    [frames] = read_open_questions(tsv)

    assert one.rubric == (RubricItem(dimension="insight", text="Breadth: Covers all.", weight=0.2),)
    assert [each.dimension for each in other.rubric] == ["info_recall", "analysis"]
    assert (other.id, other.blocked) == ("2", ("https://a.example/paper",))
    assert (law.kind, law.rubric[0].weight) == ("Law", -10)
    assert fixed.paragraphs == (("u1", "A.", True), ("u2", "B.", False))
    assert fixed.asked.gold == {"u1"}
    assert (frames.text, frames.answers) == ('Is "A"\nB?', ("Paris",))
    assert read(tmp_path / "query.jsonl", {"id": 1, "prompt": "Who?", "topic": "x"})[0].rubric == ()
    tsv.write_text("\tPrompt\tAnswer\n0\tIs A\u2028B\x85C?\tParis\n")
    assert [each.text for each in read_open_questions(tsv)] == ["Is A\u2028B\x85C?"]
    with pytest.raises(BadInput, match="is of no set that is known; its columns: a, b"):
        read(tmp_path / "other.jsonl", {"a": 1, "b": 2})
    with pytest.raises(BadInput, match=r"row 1 of .* is not as published"):
        read(tmp_path / "bad.jsonl", {**draco, "answer": "{}"})


def test_a_fault_that_the_report_has_costs_its_weight():
    items = [
        RubricItem(dimension="a", text=t, weight=w) for t, w in (("x", 3), ("y", 1), ("z", -2))
    ]

    assert rubric_share(items, [1, 0.5, 0]) == 3.5 / 4
    assert rubric_share(items, [1, 0, 1]) == 1 / 4
    assert rubric_share(items, [0, 0, 1]) == 0


def evidence(number: int, quote: str, text: str = TEXT) -> StoredEvidence:
    start = text.find(quote)
    return StoredEvidence(
        id=number,
        task_id="T1",
        entity="year",
        source_id=1,
        address="light.md",
        title="The light",
        source_text=text,
        source_start=0,
        start=start,
        end=start + len(quote),
        quote=quote,
        sha256=sha256(text.encode()).hexdigest(),
        fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def citation(mark: int, quote: str, evidence_id: int) -> Citation:
    return Citation(
        mark=mark,
        evidence_id=evidence_id,
        source_id=1,
        address="light.md",
        title="The light",
        heading="",
        start=0,
        end=len(quote),
        quote=quote,
        sha256="",
    )


@pytest.mark.conformance("EVA-03")
def test_rules_count_what_opens_stands_and_is_in_the_cited_passage():
    quote = "lit in 1871"
    report = Report(
        question="When was the Gannet light lit?",
        answer="1871",
        summary=(
            ReportStatement(text="The Gannet light was lit in 1871.", marks=(1,)),
            ReportStatement(text="It was built by Orlan Treave in 1869.", marks=(1,)),
            ReportStatement(text="Nobody keeps it."),
        ),
        findings=(ReportStatement(text="The Gannet light was lit in 1871.", marks=(1,)),),
        citations=(citation(1, quote, 1), citation(2, "Lit in 1871", 1), citation(3, quote, 9)),
    )

    found = score_by_rules(report, [evidence(1, quote)], ["light.md"])

    assert (found.sentences, found.cited_sentences, found.supported) == (3, 2, 1)
    assert (found.citations, found.opened, found.verbatim) == (3, 2, 1)
    assert (found.sources, found.blocked) == (2, 3)


@pytest.mark.conformance("EVA-03")
def test_a_quote_counts_as_verbatim_only_where_the_stored_source_still_has_it():
    quote = "lit in 1871"
    changed = evidence(1, quote).model_copy(update={"source_text": TEXT.replace("1871", "1872")})
    report = Report(question="When?", answer="1871", citations=(citation(1, quote, 1),))

    found = score_by_rules(report, [changed])

    assert (found.opened, found.verbatim) == (1, 0)


class PlayedJudge:
    """Plays the judge, and keeps what it was asked."""

    def __init__(self, wavers: bool = False) -> None:
        self.asked: list[ModelRequest] = []
        self.wavers = wavers

    async def complete(
        self, request: ModelRequest, progress: CallProgress | None = None
    ) -> Completion:
        self.asked.append(request)
        task = json.loads(request.messages[1].content)
        if "sources" in task:
            content: object = {"completeness": 4, "source_quality": 2}
        else:
            listed = task.get("items") or task["claims"]
            met = "no" if self.wavers and len(self.asked) > 3 else "yes"
            content = {
                "verdicts": [
                    {"number": each["number"], "met": met if "9" not in each["text"] else "partly"}
                    for each in listed
                ]
            }
        return Completion(text=json.dumps(content), model="j", input_tokens=10, output_tokens=2)


RUBRIC = [RubricItem(dimension="facts", text=f"item {n}") for n in range(9)]
FAULT = RubricItem(dimension="faults", text="states a wrong year", weight=-1)
CLAIMS = [CitedClaim(f"claim {n}", (f"quote {n}",), (TEXT,), frozenset({"a"})) for n in range(10)]
QUALITY = QualityTask(
    question="When?",
    report="1871.",
    sources=tuple(CitedSource(title=str(n), address=str(n)) for n in range(6)),
)


def order(request: ModelRequest) -> list[object]:
    task = json.loads(request.messages[1].content)
    listed = task.get("sources") or task.get("items") or task["claims"]
    return [each.get("number", each.get("title")) for each in listed]


@pytest.mark.conformance("EVA-03")
async def test_a_judge_sees_everything_in_an_order_of_the_dice_and_verdicts_keep_their_own():
    model, same = PlayedJudge(), PlayedJudge()

    first = await ReportJudge(model, "j", 1).judged(QUALITY, RUBRIC, CLAIMS, 1)
    second = await ReportJudge(model, "j", 1).judged(QUALITY, RUBRIC, CLAIMS, 2)
    again = await ReportJudge(same, "j", 1).judged(QUALITY, RUBRIC, CLAIMS, 1)

    orders = [order(each) for each in model.asked]
    assert [order(each) for each in same.asked] == orders[:3]
    assert all(one != other for one, other in zip(orders[:3], orders[3:], strict=True))
    assert [sorted(map(int, each)) for each in orders[:3]] == [list(range(n)) for n in (6, 9, 10)]
    assert first == second == again
    assert (first.completeness, first.source_quality, first.rubric) == (4, 2, 1.0)
    assert (first.support, first.verdicts[-1]) == (0.95, "partly")
    assert (first.input_tokens, first.output_tokens) == (30, 6)
    assert agreement([first, second]) == 1


@pytest.mark.conformance("EVA-03")
async def test_a_judge_that_wavers_is_seen():
    judge = ReportJudge(PlayedJudge(wavers=True), "j", 1)

    rounds = [await judge.judged(QUALITY, [RUBRIC[0], FAULT], CLAIMS[:2], n) for n in (1, 2)]

    assert agreement(rounds) == pytest.approx(2 / 6)
    assert rounds[0].dimensions == {"facts": 1.0}, "a dimension of faults alone has no share"


async def test_a_verdict_that_is_missing_is_asked_for_again_and_then_refused():
    class Silent(PlayedJudge):
        async def complete(
            self, request: ModelRequest, progress: CallProgress | None = None
        ) -> Completion:
            found = await super().complete(request)
            return (
                found
                if "source_quality" in found.text
                else found.model_copy(update={"text": '{"verdicts": []}'})
            )

    model = Silent()

    with pytest.raises(MalformedReply, match="no verdict on number"):
        await ReportJudge(model, "j", 1).judged(QUALITY, RUBRIC[:1], [], 1)
    assert len(model.asked) == 3


def test_long_rubrics_are_judged_in_parts():
    assert RUBRIC_BATCH < 50, "DeepResearch Bench II has up to 90 items"
    assert "1 to 5" in QUALITY_JUDGE.instructions


DOCS = [
    ("https://a.example/light", "The Gannet light was lit in 1871."),
    ("https://a.example/tower", "The Halm tower was opened in 1903."),
]


def written_corpus(folder: Path) -> Path:
    """Two questions in the form of BrowseComp-Plus, with the documents of both."""
    rows = [
        {
            "query_id": str(number),
            "query": question,
            "answer": answer,
            "gold_docs": [
                {"docid": str(n), "url": url, "text": text} for n, (url, text) in enumerate(DOCS)
            ],
        }
        for number, (question, answer) in enumerate(
            [
                ("When was the Gannet light lit?", "1871"),
                ("When was the Halm tower opened?", "1903"),
            ]
        )
    ]
    data = folder / "plus.jsonl"
    data.write_text("\n".join(map(json.dumps, rows)))
    return data


def run_command(
    data: Path, out: Path, *more: str, **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Research and score with the built-in model, one question at a time."""
    command = [sys.executable, "-m", "holdfast.evals.open_reports", str(data), "--model"]
    command += ["extractive", "--presets", "kpi-chain", "--out", str(out), "--jobs", "1", "--json"]
    plain = {n: v for n, v in os.environ.items() if not n.startswith("HOLDFAST_")}
    return subprocess.run(
        [*command, *more],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=plain | variables,
    )


def played_judgement(asked: ReceivedRequest) -> ScriptedReply:
    """Give the marks 4 and 2, and say of each claim that its quotes show it."""
    if "sources" in asked.task:
        return ScriptedReply.of({"reason": "as seen", "completeness": 4, "source_quality": 2})
    listed = asked.task.get("claims") or asked.task["items"]
    return ScriptedReply.of(
        {"verdicts": [{"number": each["number"], "met": "yes"} for each in listed]}
    )


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.conformance("EVA-03")
def test_one_command_has_reports_judged_at_an_endpoint_until_the_cap_and_continues(tmp_path: Path):
    data, out = written_corpus(tmp_path), tmp_path / "out"

    with ScriptedModel(played_judgement) as model:
        at = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "sk-judge"}
        capped = run_command(data, out, "--judge", "strict-reader", "--cap", "1", **at)
        asked_at_the_cap = model.count
        whole = run_command(data, out, "--judge", "strict-reader", **at)

    assert capped.returncode == whole.returncode == 0, capped.stderr + whole.stderr
    [first], [both] = json.loads(capped.stdout), json.loads(whole.stdout)
    assert "the cap is 1" in capped.stderr
    assert (first["questions"], both["questions"]) == (1, 2)
    assert (both["completeness"], both["source_quality"], both["support"]) == (4, 2, 100)
    assert (both["agreement"], both["rubric"]) == (100, None)
    assert asked_at_the_cap == 4, "marks and claims, each twice"
    assert model.count == 8, "what was judged is not judged again"
    assert {asked.body["model"] for asked in model.asked} == {"strict-reader"}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.conformance("EVA-03")
def test_one_command_scores_a_fixed_corpus_without_a_judge_and_continues(tmp_path: Path):
    data, out = written_corpus(tmp_path), tmp_path / "out"
    capped, whole = run_command(data, out, "--limit", "1"), run_command(data, out)
    judged = run_command(data, out, "--judge", "other")

    assert capped.returncode == whole.returncode == 0, capped.stderr + whole.stderr
    [first], [both] = json.loads(capped.stdout), json.loads(whole.stdout)
    assert (first["questions"], both["questions"]) == (1, 2)
    assert (both["delivered"], both["opened"], both["verbatim"]) == (100, 100, 100)
    assert both["completeness"] is None
    assert both["cited"] > 0
    lines = (out / "scores.jsonl").read_text().splitlines()
    assert len(lines) == 2
    assert len(set(re.findall(r'"job_id": "([^"]+)"', "".join(lines)))) == 2
    assert judged.returncode == 2
    assert "give another --out" in judged.stderr
