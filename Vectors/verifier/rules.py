"""Rosters, "Rules": what is judged of every entry. The rows of the table for single changes are in
`rules_scope.py` and `rules_people.py`; an epoch and the renewal of a link are judged here, at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import rules_people, rules_scope
from .changes import (
    PUBLIC_USER,
    Accept,
    Block,
    Close,
    Invite,
    Leave,
    NewIdentity,
    Open,
    Remove,
    Revoke,
    SetPermission,
    SetRole,
    Settings,
    Unblock,
)
from .entries import SEAT, Entry, Epoch
from .errors import Reason, present, require
from .identity import VerifiedChain, verify_chain
from .notation import verify
from .roster import Roster, State
from .scope import Scope
from .turn import Turn


def apply(roster: Roster, entry: Entry, data: bytes, signature: bytes) -> State:
    """The state after an entry. Refuses one that breaks a rule."""
    before = roster.state
    # log: the scope and the place in it
    require(entry.scope_id == roster.scope_id, Reason.CONTEXT, "an entry of another scope")
    require(entry.sequence == len(roster.steps), Reason.NOT_NEXT, "not the next sequence number")
    require(entry.previous == roster.head, Reason.NOT_NEXT, "not after the head")
    # empty
    require(bool(entry.changes) or entry.epoch is not None, Reason.EPOCH_REQUIRED, "neither change nor epoch")
    # closed, and the beginning
    opens = [change for change in entry.changes if isinstance(change, Open)]
    if not before.is_open:
        require(bool(opens), Reason.NOT_APPLICABLE if roster.steps else Reason.NOT_NEXT, "nothing is open")
    brought = _brought_chain(roster.scope, entry)
    verify(_author_key(entry, before, brought), signature, "roster-entry", data)

    ours = any(change.abandoned is not None and roster.has(change.abandoned) for change in opens)
    turn = Turn(roster.scope, roster.scope_id, entry, before, before.copy(), brought, ours)
    for change in entry.changes:
        RULES[type(change)](turn, change)
    if turn.needs_renewal:
        _renewal(turn)
    if entry.epoch is not None:
        _epoch(turn, entry.epoch)
    return turn.after


def _brought_chain(scope: Scope, entry: Entry) -> VerifiedChain | None:
    """The chain of an `open` or `accept`, verified; its user is the author."""
    bringing = [change for change in entry.changes if isinstance(change, (Open, Accept))]
    if not bringing:
        return None
    if isinstance(bringing[0], Open):
        # Before the chain is looked at: an `open` of another scope would be judged in the wrong container.
        require(bringing[0].scope == scope, Reason.CONTEXT, "opens another scope")
        require(entry.author == scope.owner, Reason.NOT_PERMITTED, "only the owner opens")
    chain = verify_chain(bringing[0].chain, scope.container)
    require(chain.user == entry.author, Reason.NOT_PERMITTED, "somebody else's identity")
    return chain


def _author_key(entry: Entry, before: State, brought: VerifiedChain | None) -> bytes:
    """The author's current key: the one before the entry, or the newest that the entry brings."""
    if brought is not None:
        return brought.signing_key
    member = present(before.members.get(entry.author), Reason.NOT_PERMITTED, "the author is no member")
    return member.chain.signing_key


def _renewal(turn: Turn) -> None:
    """renewal: whoever went knew the share-wide secret."""
    before, after = turn.before.settings, turn.after.settings
    if after is not None and after.seat is not None:
        renewed = before is None or before.link_id != after.link_id
        require(renewed, Reason.RENEWAL, "the link that somebody gone knows")


def _epoch(turn: Turn, epoch: Epoch) -> None:
    entry, before, after = turn.entry, turn.before, turn.after
    member = before.members.get(entry.author)
    opens = turn.brought is not None  # an `open`, whose author is the owner: an `accept` has no epoch
    if not opens and not (member is not None and member.is_administrator):
        own = all(isinstance(change, NewIdentity) for change in entry.changes)
        due = after.rotation_due and own
        may = member is not None and member.may_write and member.role != PUBLIC_USER
        require(due and may, Reason.NOT_PERMITTED, "may not open an epoch")
    last = after.epoch  # None right after an `open`, whose state is a new one
    require(epoch.number == (last.number + 1 if last else 0), Reason.EPOCH_REQUIRED, "not the next epoch")
    require(last is None or epoch.key_id != last.key_id, Reason.EPOCH_REQUIRED, "the key before kept")
    hashes = epoch.grant_hashes
    require(set(hashes) == after.subjects(), Reason.COVERAGE, "covers others than it has to")
    for change in entry.changes:
        made = change if isinstance(change, Invite) else change.seat if isinstance(change, Settings) else None
        if made is not None and (SEAT, made.id) in hashes:
            same = hashes[(SEAT, made.id)] == made.grant_hash
            require(same, Reason.COVERAGE, "another grant than the seat's")
    after.epoch = epoch
    after.rotation_due = False


# Every change has its rule here; one without is a programming error that the runner reports.
RULES: dict[type[Any], Callable[[Turn, Any], None]] = {
    Open: rules_scope.open_,
    Settings: rules_scope.settings,
    Invite: rules_people.invite,
    Revoke: rules_people.revoke,
    Accept: rules_people.accept,
    SetPermission: rules_people.set_permission,
    SetRole: rules_people.set_role,
    Remove: rules_people.remove,
    Leave: rules_people.leave,
    NewIdentity: rules_people.identity,
    Block: rules_people.block,
    Unblock: rules_people.unblock,
    Close: rules_scope.close,
}
