"""Rosters, "Rules": who belongs to a scope, and as what."""

from __future__ import annotations

from dataclasses import replace

from . import limits
from .changes import (
    ADMINISTRATOR,
    PRIVATE_USER,
    PUBLIC_USER,
    Accept,
    Block,
    Invite,
    Leave,
    NewIdentity,
    Remove,
    Revoke,
    SetPermission,
    SetRole,
    Unblock,
)
from .errors import Reason, present, require
from .identity import check_seat_keys, verify_chain
from .links import verify_acceptance
from .roster import Member, OpenInvitation
from .turn import Turn


def _check_room(turn: Turn) -> None:
    room = turn.after.seats_taken() < limits.PARTICIPANTS
    require(room, Reason.PARTICIPANTS, "more participants than the limit")


def invite(turn: Turn, change: Invite) -> None:
    turn.require_administrator()
    after = turn.after
    require(after.settings is not None, Reason.NOT_APPLICABLE, "not shared yet")
    turn.use_seat(change.id)
    _check_room(turn)
    check_seat_keys(change.signing_key, change.grant_key)
    known = verify_chain(change.known, turn.scope.container) if change.known is not None else None
    if known is not None:
        require(known.user not in after.members, Reason.NOT_APPLICABLE, "a member already")
        invited = {i.known.user for i in after.invitations.values() if i.known is not None}
        require(known.user not in invited, Reason.NOT_APPLICABLE, "invited already")
        require(known.user not in after.blocked, Reason.NOT_APPLICABLE, "blocked")
        turn.check_continues(known)
        turn.learn(known)
    after.invitations[change.id] = OpenInvitation(change, known, turn.author)


def revoke(turn: Turn, change: Revoke) -> None:
    turn.require_administrator()
    require(change.id in turn.after.invitations, Reason.NOT_APPLICABLE, "no open invitation")
    turn.require_epoch()
    del turn.after.invitations[change.id]


def accept(turn: Turn, change: Accept) -> None:
    turn.require_only_change()
    turn.require_no_epoch()
    chain, after = turn.brought_chain(), turn.after
    require(chain.user not in after.members, Reason.NOT_APPLICABLE, "a member already")
    require(chain.user not in after.blocked, Reason.NOT_PERMITTED, "blocked")
    turn.check_continues(chain)
    public = after.settings.seat if after.settings is not None else None
    if after.settings is not None and public is not None and public.id == change.invitation:
        _check_room(turn)
        key = public.signing_key
        member = Member(chain, after.settings.public_permission, PUBLIC_USER)
    else:
        open_ = present(after.invitations.get(change.invitation), Reason.NOT_APPLICABLE, "no open invitation")
        if open_.known is not None:
            require(chain.user == open_.known.user, Reason.NOT_PERMITTED, "somebody else's seat")
            require(chain.continues(open_.known), Reason.IDENTITY, "not the chain that was invited")
        key = open_.invite.signing_key
        member = Member(chain, open_.invite.permission, PRIVATE_USER)
        del after.invitations[change.invitation]
    verify_acceptance(key, change.signature, turn.scope_id, change.invitation, chain, turn.entry.previous)
    seats = list(after.invitations.items())
    for other in (seat for seat, open_ in seats if open_.known is not None and open_.known.user == chain.user):
        # One seat a person.
        del after.invitations[other]
    turn.enter(member)


def set_permission(turn: Turn, change: SetPermission) -> None:
    turn.require_administrator()
    member = turn.subordinate(change.user)
    fixed = "a public user has the public permission, an administrator readWrite"
    require(member.role == PRIVATE_USER, Reason.NOT_APPLICABLE, fixed)
    require(member.permission != change.permission, Reason.NOT_APPLICABLE, "the permission that it has")
    if change.permission < member.permission:
        turn.require_epoch()
    turn.after.members[change.user] = replace(member, permission=change.permission)


def set_role(turn: Turn, change: SetRole) -> None:
    turn.require_owner()
    require(change.user != turn.scope.owner, Reason.NOT_PERMITTED, "not upon the owner")
    member = turn.member(change.user)
    require(member.role != change.role, Reason.NOT_APPLICABLE, "the role that it has")
    fits = change.role != ADMINISTRATOR or member.may_write
    require(fits, Reason.NOT_APPLICABLE, "an administrator has readWrite")
    turn.after.members[change.user] = replace(member, role=change.role)
    if member.role == ADMINISTRATOR:
        turn.require_epoch()
        turn.end_administration(change.user)


def remove(turn: Turn, change: Remove) -> None:
    turn.require_administrator()
    turn.subordinate(change.user)
    turn.require_epoch()
    turn.require_renewal()
    turn.end_membership(change.user)


def leave(turn: Turn, change: Leave) -> None:
    turn.require_only_change()
    turn.require_no_epoch()
    require(not turn.is_owner, Reason.NOT_PERMITTED, "the owner cannot leave")
    _make_rotation_due(turn, turn.member(turn.author))
    turn.end_membership(turn.author)


def identity(turn: Turn, change: NewIdentity) -> None:
    turn.require_only_change()
    member = turn.member(turn.author)
    generations = member.chain.generations + change.generations
    chain = verify_chain(generations, turn.scope.container)
    turn.learn(chain)
    turn.after.members[turn.author] = replace(member, chain=chain)
    _make_rotation_due(turn, member)


def _make_rotation_due(turn: Turn, member: Member) -> None:
    """Whoever joined by the public seat could come back by it."""
    if member.role != PUBLIC_USER:
        turn.after.rotation_due = True


def block(turn: Turn, change: Block) -> None:
    turn.require_administrator()
    after = turn.after
    require(change.user != turn.scope.owner, Reason.NOT_PERMITTED, "not upon the owner")
    require(change.user not in after.blocked, Reason.NOT_APPLICABLE, "blocked already")
    require(len(after.blocked) < limits.BLOCKED, Reason.LENGTH, "more blocked names than the limit")
    turn.require_epoch()
    turn.require_renewal()
    if change.user in after.members:
        turn.subordinate(change.user)
        turn.end_membership(change.user)
    for identifier, invitation in list(after.invitations.items()):
        if invitation.known is not None and invitation.known.user == change.user:
            del after.invitations[identifier]
    after.blocked |= {change.user}


def unblock(turn: Turn, change: Unblock) -> None:
    turn.require_administrator()
    require(change.user in turn.after.blocked, Reason.NOT_APPLICABLE, "not blocked")
    turn.after.blocked -= {change.user}
