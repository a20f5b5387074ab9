"""Rosters, "Forks": whether a client that holds one log takes over another."""

from __future__ import annotations

from .changes import Head, Open
from .identity import verify_chain
from .roster import Roster


def succeeds(known: Roster, other: Roster) -> bool:
    """Both are verified logs of one scope. The other goes on from the known head, or its owner gave up that very
    head, with no older keys than the known log has and for a life that it has not had."""
    length = len(known.steps)
    if len(other.steps) >= length and (length == 0 or other.steps[length - 1].hash == known.head):
        return True
    changes = (change for step in other.steps for change in step.entry.changes)
    return any(isinstance(change, Open) and _ends(change, known) for change in changes)


def _ends(opening: Open, known: Roster) -> bool:
    life = known.state.life
    if opening.abandoned != Head(len(known.steps) - 1, known.head) or life is None:
        return False
    owner = known.state.chains[known.scope.owner]
    chain = verify_chain(opening.chain, known.scope.container)
    return chain.continues(owner) and opening.life.scope > life.scope and opening.life.zone >= life.zone
