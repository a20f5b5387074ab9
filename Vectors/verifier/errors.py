"""The two ways in which something is not all right."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


class Reason(Enum):
    """Why something was refused: our own names. `reasons.py` relates them to the vectors' names."""

    MALFORMED = "malformed"
    LENGTH = "length"
    NAME = "name"
    UNSUPPORTED = "unsupported"
    SIGNATURE = "signature"
    AUTHENTICATION = "authentication"
    KEY_MISMATCH = "key mismatch"
    MISSING_KEY = "missing key"
    IDENTITY = "identity"
    CONTEXT = "context"
    NOT_NEXT = "not the next entry"
    NOT_PERMITTED = "not permitted"
    NOT_APPLICABLE = "not applicable"
    EPOCH_REQUIRED = "epoch required"
    COVERAGE = "coverage"
    ROSTER_HEAD = "roster head"
    STALE_EPOCH = "stale epoch"
    AUTHOR = "author"
    PROOF = "proof"
    URL = "URL"
    PARAMETERS = "parameters"
    RECOVERY_KEY = "recovery key"
    FIELDS = "fields"
    SUCCESSOR = "successor"
    STALE = "stale"
    DELETION = "derived deletion"
    RENEWAL = "renewal"
    PARTICIPANTS = "participants"
    KEY = "key"
    EXPORT = "export"
    DOUBTED = "not believed"


class Refused(Exception):
    """The construction's own check says no. Raised deliberately, and by nothing but our own code.

    The detail is for people. It never holds a secret.
    """

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason.value}: {detail}")
        self.reason = reason
        self.detail = detail


class MistypedRecoveryKey(Refused):
    """A refused recovery key, with the groups (from 1) whose check letter does not fit."""

    def __init__(self, groups: list[int], detail: str) -> None:
        super().__init__(Reason.RECOVERY_KEY, detail)
        self.groups = groups


class Disagreement(Exception):
    """A vector says one thing and we find another, or it is not a vector as its header says."""


# Checks that do not refuse, by what they would say: only for the experiment of `isolation.py`.
_switched_off: set[tuple[Reason, str]] = set()


@contextmanager
def switched_off(refusal: Refused) -> Iterator[None]:
    """While one check does not refuse. What is verified meanwhile is worth nothing."""
    check = (refusal.reason, refusal.detail)
    _switched_off.add(check)
    try:
        yield
    finally:
        _switched_off.discard(check)


def require(condition: bool, reason: Reason, detail: str) -> None:
    """Refuses unless the condition holds."""
    if not condition and (reason, detail) not in _switched_off:
        raise Refused(reason, detail)


def present(value: T | None, reason: Reason, detail: str) -> T:
    """Refuses what is not there."""
    if value is None:
        raise Refused(reason, detail)
    return value


def crash(error: Exception) -> str:
    """Where our own code failed; not the exception's message, which could hold anything."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"the verifier failed: {type(error).__name__} in {Path(frame.filename).name}:{frame.lineno}"
