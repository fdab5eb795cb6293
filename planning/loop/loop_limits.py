"""Decide when a loop must answer: nothing new, no turns left, or a limit of its job."""

from collections.abc import Sequence

_TURNS_WITHOUT_NEWS = 2


def reason_to_answer(
    turns: int, news_by_turn: Sequence[int], max_turns: int, job_limit: str
) -> str:
    """Return why the agent must answer now; empty if it may go on.

    `news_by_turn` has, for each turn with searches, the number of passages that were new.
    """
    if job_limit:
        return job_limit
    if turns >= max_turns - 1:
        taken = "1 turn was" if turns == 1 else f"{turns} turns were"
        return f"{taken} taken (max_turns {max_turns})"
    last = news_by_turn[-_TURNS_WITHOUT_NEWS:]
    if len(last) == _TURNS_WITHOUT_NEWS and not any(last):
        return f"the searches of the last {_TURNS_WITHOUT_NEWS} turns found nothing new"
    return ""
