"""The file of a comparison: one line per preset and one line per finished question."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from holdfast.evals.measures.confidence_figures import RatedAnswer, is_right_answer
from holdfast.evals.measures.question_files import EvaluationQuestion
from holdfast.evals.presets.answer_judge import NOT_JUDGED
from holdfast.models.calls.model_requests import canonical_hash
from holdfast.models.errors import BadInput
from holdfast.models.evidence.answer_routes import AnswerRoute
from holdfast.models.frozen_model import Frozen


class PresetArm(Frozen):
    """One preset under the conditions that all arms of a comparison share."""

    line: Literal["arm"] = "arm"
    preset: str
    variant: str = ""
    """The name of the settings that this arm changes; empty for the preset as it is."""
    model: str
    judge: str = ""
    config_hash: str
    strategy: Mapping[str, Any]

    @property
    def name(self) -> str:
        return arm_name(self.preset, self.variant)


def arm_name(preset: str, variant: str) -> str:
    """Return how tables name an arm."""
    return f"{preset}, {variant}" if variant else preset


class RoleUsage(Frozen):
    """Calls and tokens of one role."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class QuestionRun(Frozen):
    """One question under one preset, once its job has ended."""

    line: Literal["run"] = "run"
    preset: str
    variant: str = ""
    repeat: int = Field(default=1, description="the question's first run under the arm, or a later")
    question: str = Field(description="its id")
    question_hash: str
    kind: str
    config_hash: str
    job_id: str
    status: str
    stop_reason: str = ""
    message: str = ""
    right: tuple[str, ...]
    answer: str = ""
    confidence: float | None = Field(
        default=None, description="what the report states of the answer"
    )
    route: AnswerRoute | None = Field(default=None, description="how the answer was reached")
    exact: bool
    f1: float
    in_report: bool = Field(
        default=False, description="whether a right answer stands in the report or what it quotes"
    )
    verdict: str
    judged_by: str = ""
    roles: Mapping[str, RoleUsage] = Field(default_factory=dict)
    tool_calls: int = 0
    repeated_calls: int = 0
    replans: int = 0
    failures: Mapping[str, int] = Field(default_factory=dict)
    depth: int = 0
    breadth: float = 0.0
    seconds: float = 0.0

    @property
    def arm(self) -> str:
        """The name of its arm."""
        return arm_name(self.preset, self.variant)

    @property
    def input_tokens(self) -> int:
        return sum(each.input_tokens for each in self.roles.values())

    @property
    def output_tokens(self) -> int:
        return sum(each.output_tokens for each in self.roles.values())

    @property
    def model_calls(self) -> int:
        return sum(each.calls for each in self.roles.values())

    @property
    def is_answered(self) -> bool:
        return bool(self.answer)

    @property
    def rated(self) -> RatedAnswer | None:
        """The answer with its confidence; None where no answer or no confidence is stated.

        Where the answer was judged, the verdict says whether it is right; else its words do.
        """
        if not self.answer or self.confidence is None:
            return None
        is_right = self.verdict == "correct"
        if self.verdict in ("", NOT_JUDGED):
            is_right = is_right_answer(self.answer, self.right)
        return RatedAnswer(self.confidence, is_right, self.route)


_LINE: TypeAdapter[PresetArm | QuestionRun] = TypeAdapter(PresetArm | QuestionRun)


def question_hash(question: EvaluationQuestion) -> str:
    """What makes two questions the same one: its words, its answers, all that may be read."""
    read = [(each.address, each.text) for each in question.paragraphs]
    return canonical_hash([question.text, list(question.answers), read])[:16]


@dataclass
class RunRecords:
    """The file of a comparison: what earlier runs left in it, and what is written behind that."""

    path: Path
    arms: dict[str, PresetArm] = field(default_factory=dict)
    runs: dict[tuple[str, str, int], QuestionRun] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> "RunRecords":
        """The records in the file; none where there is no file yet.

        Raises:
            BadInput: a line other than the last is no record.
        """
        found = cls(path)
        if not path.exists():
            return found
        lines = path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines, start=1):
            if line.strip():
                found._take(line, number, is_last=number == len(lines))
        if lines[-1]:
            # Cut off in the middle: the next line must not go on in it.
            path.write_text("".join(f"{each}\n" for each in lines[:-1]), encoding="utf-8")
        return found

    def _take(self, line: str, number: int, *, is_last: bool) -> None:
        if is_last:
            return
        try:
            read = _LINE.validate_json(line)
        except ValidationError as error:
            raise BadInput(f"line {number} of {str(self.path)!r} is no record: {error}") from None
        if isinstance(read, PresetArm):
            self.arms[read.name] = read
        else:
            self.runs[read.arm, read.question, read.repeat] = read

    def begin(self, arms: Iterable[PresetArm]) -> None:
        """Note the arms that are new.

        Raises:
            BadInput: an arm of that preset, or any other, was run under other conditions.
        """
        for arm in arms:
            for before in self.arms.values():
                _check_matched(before, arm, self.path)
            if arm.name not in self.arms:
                self.arms[arm.name] = arm
                self._write(arm)

    def done(
        self, arm: PresetArm, question: EvaluationQuestion, repeat: int = 1
    ) -> QuestionRun | None:
        """The question's run of that number under the arm, if it has one.

        Raises:
            BadInput: the question of that id was another one then.
        """
        run = self.runs.get((arm.name, question.id, repeat))
        if run is not None and run.question_hash != question_hash(question):
            raise BadInput(
                f"question {question.id!r} in {str(self.path)!r} is not the one given now: its "
                "words, answers or paragraphs differ; give another --out"
            )
        return run

    def add(self, run: QuestionRun) -> None:
        """Keep what came of a question."""
        self.runs[run.arm, run.question, run.repeat] = run
        self._write(run)

    def _write(self, line: PresetArm | QuestionRun) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line.model_dump(mode="json"), ensure_ascii=False) + "\n")


def _check_matched(before: PresetArm, now: PresetArm, path: Path) -> None:
    """Arms differ in their preset and the settings they name; one arm is always the same."""
    differing = [
        f"{name} was {getattr(before, name)!r} and is {getattr(now, name)!r}"
        for name in ("model", "judge")
        if getattr(before, name) != getattr(now, name)
    ]
    if before.name == now.name and before.config_hash != now.config_hash:
        differing += _settings_that_differ(before.strategy, now.strategy)
    if differing:
        raise BadInput(
            f"{str(path)!r} holds runs of {before.name!r} that cannot be compared: "
            f"{'; '.join(differing)}. Give another --out"
        )


def _settings_that_differ(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [
        f"setting {name} was {before.get(name)!r} and is {now.get(name)!r}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    ]
