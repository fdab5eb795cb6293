"""Research the questions of a public set and score their reports; a stopped run continues."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from holdfast.client import Holdfast
from holdfast.evals.open_reports.public_sets import OpenQuestion
from holdfast.evals.open_reports.report_judge import (
    CitedSource,
    JudgedReport,
    QualityTask,
    ReportJudge,
)
from holdfast.evals.open_reports.rule_scores import RuleScores, cited_claims, score_by_rules
from holdfast.evals.presets.preset_comparison import (
    ComparisonRunner,
    PresetComparison,
    PrintLine,
)
from holdfast.evals.presets.run_records import PresetArm, QuestionRun, RunRecords
from holdfast.models.errors import BadInput
from holdfast.models.evidence.evidence import Report
from holdfast.models.frozen_model import Frozen
from holdfast.storage.evidence.evidence_rows import evidence_of, load_report


class ReportScore(Frozen):
    """One question under one arm, scored."""

    arm: str
    question: str
    run: QuestionRun
    rules: RuleScores | None
    """None where no report was delivered."""
    judge: str = ""
    rounds: tuple[JudgedReport, ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens of the job and of its judge."""
        judged = sum(each.input_tokens + each.output_tokens for each in self.rounds)
        return self.run.input_tokens + self.run.output_tokens + judged


@dataclass
class ScoreRecords:
    """The file of scores: a line for each question under each arm."""

    path: Path
    scores: dict[tuple[str, str], ReportScore] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> "ScoreRecords":
        """The scores in the file; a last line that was cut off is scored again.

        Raises:
            BadInput: another line is no score.
        """
        found = cls(path)
        lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else [""]
        for number, line in enumerate(lines[:-1], start=1):
            try:
                score = ReportScore.model_validate_json(line)
            except ValidationError as error:
                raise BadInput(f"line {number} of {str(path)!r} is no score: {error}") from None
            found.scores[score.arm, score.question] = score
        if lines[-1]:
            path.write_text("".join(f"{each}\n" for each in lines[:-1]), encoding="utf-8")
        return found

    def add(self, score: ReportScore) -> None:
        """Keep a score."""
        self.scores[score.arm, score.question] = score
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            line = json.dumps(score.model_dump(mode="json"), ensure_ascii=False)
            file.write(f"{line}\n")


@dataclass(frozen=True)
class OpenRunOptions:
    """What is run."""

    questions: Sequence[OpenQuestion]
    arms: Sequence[PresetArm]
    out: Path
    cap: int | None = None
    """Tokens of all jobs and judgements; no further question begins once they are spent."""
    jobs: int = 2
    repeats: int = 2
    """How often the judge judges each report."""


async def run_open_questions(
    holdfast: Holdfast, wanted: OpenRunOptions, judge: ReportJudge | None, say: PrintLine
) -> list[ReportScore]:
    """A score for each question under each arm, up to the cap.

    Raises:
        BadInput: what is kept was run or judged under other conditions.
    """
    runner = ComparisonRunner(holdfast, RunRecords.open(wanted.out / "runs.jsonl"))
    kept = ScoreRecords.open(wanted.out / "scores.jsonl")
    judge_name = judge.name if judge else ""
    for score in kept.scores.values():
        if score.judge != judge_name:
            raise BadInput(
                f"{str(kept.path)!r} was judged by {score.judge or 'rules alone'!r}, and now by "
                f"{judge_name or 'rules alone'!r}: give another --out"
            )
    for some in _groups(wanted.questions, wanted.jobs):
        spent = sum(each.tokens for each in kept.scores.values())
        if wanted.cap is not None and spent >= wanted.cap:
            say(f"stopped at {spent:,} tokens: the cap is {wanted.cap:,}")
            break
        comparison = PresetComparison([each.asked for each in some], wanted.arms, wanted.jobs)
        by_id = {each.id: each for each in some}
        for run in await runner.compare(comparison):
            if (run.arm, run.question) not in kept.scores:
                kept.add(await _scored(holdfast, run, by_id[run.question], judge, wanted.repeats))
        say(f"{len(kept.scores)} of {len(wanted.questions) * len(wanted.arms)} reports are scored")
    asked = {each.id for each in wanted.questions}
    return [each for each in kept.scores.values() if each.question in asked]


def _groups(questions: Sequence[OpenQuestion], size: int) -> Iterator[Sequence[OpenQuestion]]:
    yield from (questions[at : at + size] for at in range(0, len(questions), size))


async def _scored(
    holdfast: Holdfast,
    run: QuestionRun,
    question: OpenQuestion,
    judge: ReportJudge | None,
    repeats: int,
) -> ReportScore:
    report = await load_report(holdfast.db, run.job_id)
    score = ReportScore(
        arm=run.arm,
        question=run.question,
        run=run,
        rules=None,
        judge=judge.name if judge else "",
    )
    if report is None:
        return score
    evidence = await evidence_of(holdfast.db, run.job_id)
    claims = cited_claims(report, evidence)
    rounds = []
    if judge is not None:
        task = _quality_task(report, question)
        for repeat in range(1, repeats + 1):
            rounds.append(await judge.judged(task, question.rubric, claims, repeat))  # noqa: PERF401
    rules = score_by_rules(report, evidence, question.blocked)
    return score.model_copy(update={"rules": rules, "rounds": tuple(rounds)})


def _quality_task(report: Report, question: OpenQuestion) -> QualityTask:
    told = [f"Answer: {report.answer}"] if report.answer else []
    told += list(dict.fromkeys(each.text for each in report.sentences))
    told += [f"Gap: {each}" for each in report.gaps]
    sources = {
        each.address: CitedSource(title=each.title, address=each.address, date=each.date)
        for each in report.citations
    }
    return QualityTask(
        question=question.text, report="\n".join(told), sources=tuple(sources.values())
    )
