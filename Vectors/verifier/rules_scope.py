"""Rosters, "Rules": a scope's life and its settings."""

from __future__ import annotations

from dataclasses import replace

from .changes import PER_RECORD, PUBLIC_USER, Close, Open, Settings
from .codec import NO_PERMISSION, READ_WRITE
from .errors import Reason, require
from .identity import check_seat_keys
from .scope import Life
from .turn import Turn, owner_of


def open_(turn: Turn, change: Open) -> None:
    """Author, chain and scope are judged in `rules.py`, before the signature."""
    turn.require_only_change()
    abandons = change.abandoned is not None
    require(abandons or not turn.before.is_open, Reason.NOT_APPLICABLE, "open already")
    require(not turn.abandoned_is_ours, Reason.NOT_APPLICABLE, "abandons an entry of its own log")
    last = turn.before.life or Life(zone=1, scope=0)
    life = change.life
    is_next = life.scope > last.scope if abandons else life.scope == last.scope + 1
    require(is_next, Reason.NOT_APPLICABLE, "not the next life of the scope")
    require(life.zone >= last.zone, Reason.NOT_APPLICABLE, "an earlier life of the zone")
    is_share = turn.scope.share_record != ""
    require(is_share or life.zone == life.scope, Reason.NOT_APPLICABLE, "incarnations that differ in a zone")
    require(is_share == (change.root_record is not None), Reason.NOT_APPLICABLE, "a root record, or none")
    require(not is_share or change.encryption == PER_RECORD, Reason.NOT_APPLICABLE, "a share in a zone under its own keys")
    kept = not abandons or turn.before.life is None or change.encryption == turn.before.encryption
    require(kept, Reason.NOT_APPLICABLE, "another encryption scope than before the fork")
    turn.require_epoch()
    chain = turn.brought_chain()
    turn.after = replace(turn.before.without_life(), life=life, is_open=True, encryption=change.encryption)
    turn.check_continues(chain)
    turn.enter(owner_of(chain, READ_WRITE))


def settings(turn: Turn, change: Settings) -> None:
    turn.require_administrator()
    before = turn.after.settings
    if not turn.is_owner:
        allowed = before is not None and before.public_permission == change.public_permission
        require(allowed, Reason.NOT_PERMITTED, "an administrator shares nothing, and keeps the public permission")
    if before is not None:
        same = (before.link_id, before.public_permission) == (change.link_id, change.public_permission)
        require(not same, Reason.NOT_APPLICABLE, "settings that change nothing")
        if before.seat is not None:
            lowers = change.public_permission < before.public_permission
            if lowers or before.link_id != change.link_id:
                turn.require_epoch()
    if change.seat is not None:
        turn.use_seat(change.seat.id)
        check_seat_keys(change.seat.signing_key, change.seat.grant_key)
    for user, member in list(turn.after.members.items()):
        if member.role != PUBLIC_USER:
            continue
        if change.public_permission == NO_PERMISSION:
            turn.end_membership(user)
        else:
            turn.after.members[user] = replace(member, permission=change.public_permission)
    turn.after.settings = change


def close(turn: Turn, change: Close) -> None:
    turn.require_owner()
    turn.require_only_change()
    turn.require_no_epoch()
    # Memberships and invitations end; what else there is stays until the next `open`.
    turn.after = replace(turn.before, is_open=False, members={}, invitations={})
