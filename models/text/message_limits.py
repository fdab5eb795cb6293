"""Limit how long the messages are that a job stores, and cut longer messages."""

from enum import IntEnum


class MessageLimit(IntEnum):
    """The largest number of characters of a message, by its place."""

    FAILURE = 4000
    """Why a task or a job failed or ended."""
    ENTRY = 2000
    """Why something failed, in an entry of a job's log or in the call ledger."""
    FAULT = 300
    """One of many faults."""


def cut_message(message: str, limit: MessageLimit) -> str:
    """Return the message, or its beginning if it is longer than the limit."""
    return message[:limit]
