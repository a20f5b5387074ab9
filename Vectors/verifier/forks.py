"""Section 6, "Forks": whether a client that holds one log takes over another."""

from __future__ import annotations

from .changes import Head, Open
from .roster import Roster


def succeeds(known: Roster, other: Roster) -> bool:
    """Both are verified logs of one scope. The other goes on from the known head, or its owner gave up that
    very head."""
    length = len(known.steps)
    if len(other.steps) >= length and (length == 0 or other.steps[length - 1].hash == known.head):
        return True
    ours = Head(length - 1, known.head)
    return any(
        isinstance(change, Open) and change.abandoned == ours for step in other.steps for change in step.entry.changes
    )
