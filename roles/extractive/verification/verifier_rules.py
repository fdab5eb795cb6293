"""Verifier by rules: check that every required value stands in a passage."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.verification.verification_verdicts import Completeness, Recommendation
from holdfast.models.verification.verifier_messages import (
    Claim,
    OtherResult,
    ResultToVerify,
    ResultValue,
    VerdictDraft,
    VerifierAnswer,
    VerifierTask,
)
from holdfast.roles.extractive.text.words_and_sentences import stems

_SUPPORTED, _BARE = 0.9, 0.6


@dataclass(frozen=True)
class _Judged:
    """A result, and the other results that the verifier sees."""

    own: ResultToVerify
    context: tuple[OtherResult, ...]
    """What the result was worked from."""
    others: tuple[OtherResult, ...]

    @classmethod
    def of(cls, own: ResultToVerify, task: VerifierTask) -> "_Judged":
        shown = (*(each.as_other for each in task.results), *task.others)
        near = [each for each in shown if each.id != own.id]
        return cls(
            own=own,
            context=tuple(each for each in near if each.id in own.depends_on),
            others=tuple(each for each in near if each.id not in own.depends_on),
        )


def verify(task: VerifierTask) -> VerifierAnswer:
    """Complete if every required value stands in a passage or follows from other results."""
    return VerifierAnswer(verdicts=[_verdict(_Judged.of(each, task)) for each in task.results])


def _verdict(judged: _Judged) -> VerdictDraft:
    own = judged.own
    found = [each for each in own.result if not _is_empty(each.value)]
    names = {each.name for each in found}
    wanted = [each for each in own.expects if each.required] or _as_expected(found)
    missing = [each for each in wanted if each.name not in names]
    bare = [] if judged.context else [each for each in found if not _is_supported(each, own)]
    share = 1 - len(missing) / len(wanted) if wanted else 0.0
    score = round((_BARE if bare else _SUPPORTED) * share, 3) if found else 0.0
    status = _status(bool(found), bool(missing or bare))
    is_accepted = status is Completeness.COMPLETE
    return VerdictDraft(
        id=own.id,
        status=status,
        completeness=score,
        missing=[*map(_asked_for, missing), *(f"a passage that states {e.name}" for e in bare)],
        contradictions=[] if own.settles else list(_contradictions(judged, found)),
        confidence=_confidence(found) if found else 0.0,
        recommendation=Recommendation.ACCEPT if is_accepted else Recommendation.RETRY,
        sides_with=_side(own, found),
    )


def _status(has_values: bool, lacks: bool) -> Completeness:
    if not has_values:
        return Completeness.INCOMPLETE
    return Completeness.PARTIAL if lacks else Completeness.COMPLETE


def _is_empty(value: JsonValue) -> bool:
    return value is None or value in ("", [], {})


def _as_expected(found: Iterable[ResultValue]) -> list[ExpectedEntity]:
    return [ExpectedEntity(name=each.name, description=each.description) for each in found]


def _asked_for(each: ExpectedEntity) -> str:
    return f"{each.name}: {each.description}" if each.description else each.name


def _is_supported(value: ResultValue, task: ResultToVerify) -> bool:
    said = _plain(value.value)
    return any(each.entity == value.name or said in _plain(each.quote) for each in task.evidence)


def _plain(value: JsonValue) -> str:
    """The value in words without signs and case, so that `1,932` is 1932."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    kept = "".join(sign for sign in text.replace(",", "") if sign.isalnum() or sign.isspace())
    return " ".join(kept.casefold().split())


def _confidence(found: Iterable[ResultValue]) -> float:
    sure = [_SUPPORTED if each.confidence is None else each.confidence for each in found]
    return round(sum(sure) / len(sure), 3)


def _contradictions(judged: _Judged, found: Iterable[ResultValue]) -> Iterator[Claim]:
    """Other values under the same name, or for the same thing in the same words."""
    for mine in found:
        for other in (*judged.context, *judged.others):
            for theirs in other.values:
                if _is_same_thing(mine, theirs) and _differ(mine.value, theirs.value):
                    yield Claim(
                        claim=f"{mine.name} is {mine.value}",
                        against=f"{theirs.name} is {theirs.value}",
                        other=other.id,
                    )


def _is_same_thing(mine: ResultValue, theirs: ResultValue) -> bool:
    told, said = set(stems(mine.description)), set(stems(theirs.description))
    if told and said:
        return told == said
    return mine.name == theirs.name and not told and not said


def _differ(mine: JsonValue, theirs: JsonValue) -> bool:
    one, other = _plain(mine), _plain(theirs)
    return bool(one and other) and one not in other and other not in one


def _side(task: ResultToVerify, found: Iterable[ResultValue]) -> str:
    """The claim that names the value; `neither` if both or none do."""
    if task.settles is None:
        return "neither"
    said = [_plain(each.value) for each in found]
    in_one = any(each in _plain(task.settles.one) for each in said)
    in_other = any(each in _plain(task.settles.other) for each in said)
    if in_one == in_other:
        return "neither"
    return "one" if in_one else "other"
