"""Rosters, "Rules": an entry on its way into a roster, and the rights of its author.

Rights are those before the entry (`Turn.before`); what a change applies to, and what an epoch has to
cover, is what the entry's earlier changes have left (`Turn.after`).
"""

from __future__ import annotations

from dataclasses import dataclass

from .changes import OWNER
from .entries import Entry
from .errors import Reason, present, require
from .identity import VerifiedChain
from .roster import Member, State
from .scope import Scope


@dataclass
class Turn:
    """One entry on its way into a roster."""

    scope: Scope
    scope_id: bytes
    entry: Entry
    before: State
    after: State
    brought: VerifiedChain | None  # the chain that an `open` or `accept` brings
    abandoned_is_ours: bool  # the abandoned head of an `open` is of this very log
    needs_renewal: bool = False

    @property
    def author(self) -> bytes:
        return self.entry.author

    @property
    def is_owner(self) -> bool:
        return self.author == self.scope.owner

    def require_owner(self) -> None:
        require(self.is_owner, Reason.NOT_PERMITTED, "only the owner may")

    def require_administrator(self) -> None:
        author = self.before.members.get(self.author)
        allowed = author is not None and author.is_administrator
        require(allowed, Reason.NOT_PERMITTED, "only administrators may")

    def require_only_change(self) -> None:
        require(len(self.entry.changes) == 1, Reason.NOT_APPLICABLE, "has to be the only change")

    def require_no_epoch(self) -> None:
        require(self.entry.epoch is None, Reason.NOT_APPLICABLE, "cannot come with an epoch")

    def require_epoch(self) -> None:
        require(self.entry.epoch is not None, Reason.EPOCH_REQUIRED, "needs a new epoch")

    def require_renewal(self) -> None:
        """Judged at the entry's end: see `rules.py`."""
        self.needs_renewal = True

    def brought_chain(self) -> VerifiedChain:
        if self.brought is None:
            raise AssertionError("an open or accept without its chain")
        return self.brought

    def member(self, user: bytes) -> Member:
        return present(self.after.members.get(user), Reason.NOT_APPLICABLE, "not a member")

    def subordinate(self, user: bytes) -> Member:
        """A member that the author governs: of the owner every other, of an administrator neither the owner
        nor an administrator."""
        require(user != self.scope.owner, Reason.NOT_PERMITTED, "not upon the owner")
        member = self.member(user)
        governs = self.is_owner or not member.is_administrator
        require(governs, Reason.NOT_PERMITTED, "not upon an administrator")
        return member

    def check_continues(self, chain: VerifiedChain) -> None:
        """chains: of somebody who is or was a member, the newest that the log has goes on."""
        if chain.user in self.after.ever_members:
            newest = self.after.chains[chain.user]
            require(chain.continues(newest), Reason.IDENTITY, "not the chain that the log knows")

    def learn(self, chain: VerifiedChain) -> None:
        """Remembers a chain, if it is the newest."""
        known = self.after.chains.get(chain.user)
        if known is None or chain.continues(known):
            self.after.chains[chain.user] = chain

    def enter(self, member: Member) -> None:
        """Makes somebody a member."""
        user = member.chain.user
        self.learn(member.chain)
        self.after.members[user] = member
        self.after.ever_members |= {user}

    def use_seat(self, identifier: bytes) -> None:
        """An id of an invitation or public seat, never used before in any life."""
        require(identifier not in self.after.used_seats, Reason.NOT_APPLICABLE, "an id used before")
        self.after.used_seats |= {identifier}

    def end_membership(self, user: bytes) -> None:
        """Takes a member out, and with an administrator its open invitations for nobody known."""
        if self.after.members.pop(user).is_administrator:
            self.end_administration(user)

    def end_administration(self, user: bytes) -> None:
        """one-time: what an administrator handed out for nobody known ends with the role."""
        for identifier, invitation in list(self.after.invitations.items()):
            if invitation.inviter == user and invitation.known is None:
                del self.after.invitations[identifier]


def owner_of(chain: VerifiedChain, permission: int) -> Member:
    return Member(chain, permission, OWNER)
