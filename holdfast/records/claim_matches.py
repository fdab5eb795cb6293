"""Let a model pair the claims of two reports that rules left over; its call is recorded."""

from collections.abc import Mapping, Sequence

from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.client import Holdfast
from holdfast.configuration.known_secrets import known_secrets
from holdfast.configuration.opened_models import open_models
from holdfast.models.errors import BadInput, ModelUnusable, Passing
from holdfast.models.evidence.evidence import Report
from holdfast.models.text.secret_mask import SecretMask
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.wire.call_places import comparison_label
from holdfast.planning.reports.claim_matching import (
    ClaimChange,
    ClaimMatch,
    ClaimPair,
    ModelMatches,
    match_claims,
)
from holdfast.roles.reports.claim_matcher import (
    CLAIM_MATCHER,
    ClaimMatcherAnswer,
    ClaimMatcherTask,
    ShownClaim,
)
from holdfast.storage.core.exclusive_turns import exclusive_turn
from holdfast.storage.jobs.job_rows import load_job
from holdfast.storage.ledger.call_ledger import CallLedger

MOST_SHOWN = 40
"""Claims of each report in the one prompt; later ones stay without a match."""
_MOST_CHARACTERS = 600


async def matches_of_model(
    holdfast: Holdfast, jobs: tuple[str, str], reports: tuple[Report, Report], model: str
) -> ModelMatches | None:
    """Return the pairs of a model; None if the claims of one report all have a match by rules.

    The call is in the ledger of the second job, so that the same comparison is paid for once; it
    counts towards that job's caps, and the quotas of its owner.

    Raises:
        BadInput: the jobs belong to two owners.
        BudgetReached: a cap of the second job leaves no room.
        Passing: the model is busy, or is asked the same now; trying again may help.
        ModelUnusable: the model gave no valid answer.
    """
    left_over = match_claims(*reports)
    first = _shown("A", ClaimChange.GONE, left_over)
    second = _shown("B", ClaimChange.NEW, left_over)
    if not first or not second:
        return None
    # The second job keeps the request, with claims of the first one, for its owner to read.
    if len({(await load_job(holdfast.db, job_id)).request.owner for job_id in jobs}) > 1:
        raise BadInput("the two jobs belong to two owners; compare them without a model")
    async with exclusive_turn(holdfast.db, comparison_turn(*jobs)) as is_ours:
        if not is_ours:
            raise Passing("a model is asked about these two jobs now; compare again in a minute")
        answer = await _ask(holdfast, jobs, _task(reports, first, second), model)
    by_id = first | second
    return ModelMatches(
        model=model,
        shown=frozenset(by_id.values()),
        matches=tuple(
            ClaimMatch(
                first=first[each.first],
                second=second[each.second],
                has_same_value=each.same_value,
            )
            for each in answer.pairs
        ),
    )


def comparison_turn(first: str, second: str) -> str:
    """The name of the turn to ask a model about the claims of these two jobs."""
    return f"compare {first} {second}"


def _shown(letter: str, change: ClaimChange, pairs: Sequence[ClaimPair]) -> dict[str, str]:
    """Return the claims without a match by id, those first that resemble another one."""
    alone = sorted((each for each in pairs if each.change is change), key=lambda e: not e.unsettled)
    texts = [each.first or each.second for each in alone][:MOST_SHOWN]
    return {f"{letter}{number}": text for number, text in enumerate(texts, start=1)}


def _task(
    reports: tuple[Report, Report], first: Mapping[str, str], second: Mapping[str, str]
) -> ClaimMatcherTask:
    questions = dict.fromkeys(shorten_text(each.question, _MOST_CHARACTERS) for each in reports)
    of_first, of_second = (
        tuple(
            ShownClaim(id=name, text=shorten_text(text, _MOST_CHARACTERS))
            for name, text in each.items()
        )
        for each in (first, second)
    )
    return ClaimMatcherTask(questions=tuple(questions), first=of_first, second=of_second)


async def _ask(
    holdfast: Holdfast, jobs: tuple[str, str], task: ClaimMatcherTask, model: str
) -> ClaimMatcherAnswer:
    job = await load_job(holdfast.db, jobs[1])
    mask = SecretMask(known_secrets(holdfast.settings, "", {}))
    async with open_models(holdfast.settings, mask) as models:
        caller = ModelCaller(
            ledger=CallLedger(holdfast.db),
            models=models,
            model=model,
            # Nobody waits here for a busy model as long as a job does, and the fallback may be one
            # that cannot match claims.
            strategy=job.request.strategy.model_copy(update={"fallback_model": ""}),
            job_id=job.id,
            epoch=job.epoch,
            task_id=comparison_label(jobs[0]),
            plays_all_roles=True,
        )
        asked = await caller.ask(CLAIM_MATCHER, task, check=lambda answer: _faults(answer, task))
    if asked.answer is None:
        raise ModelUnusable(
            f"model {model!r} gave no valid answer: {'; '.join(asked.faults)}. Compare without a "
            "model, or name another one"
        )
    return asked.answer


def _faults(answer: ClaimMatcherAnswer, task: ClaimMatcherTask) -> list[str]:
    """Return what is wrong with the pairs: unknown ids, and claims in two pairs."""
    faults = []
    for side, claims in (("first", task.first), ("second", task.second)):
        named = [getattr(pair, side) for pair in answer.pairs]
        unknown = sorted(set(named) - {each.id for each in claims})
        twice = sorted({name for name in named if named.count(name) > 1})
        if unknown:
            faults.append(f"`{side}` has no claim {', '.join(unknown)}")
        if twice:
            faults.append(f"`{side}` is in two pairs: {', '.join(twice)}; give each claim one pair")
    return faults
