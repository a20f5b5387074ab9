"""Rosters: a roster is a log of entries, replayed from entry 0 under the rules of `rules.py`."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from .changes import ADMINISTRATOR, OWNER, PER_RECORD, Head, Invite, Open, Settings
from .codec import READ_WRITE, ZERO_DIGEST
from .entries import MEMBER, SEAT, Entry, Epoch, entry_hash
from .errors import Reason, present
from .identity import VerifiedChain
from .scope import EpochContext, Life, Scope


@dataclass(frozen=True)
class Member:
    """Somebody who belongs to the scope, with the keys of the newest generation that the roster knows."""

    chain: VerifiedChain
    permission: int
    role: int

    @property
    def may_write(self) -> bool:
        return self.permission == READ_WRITE

    @property
    def is_administrator(self) -> bool:
        return self.role in (OWNER, ADMINISTRATOR)


@dataclass(frozen=True)
class OpenInvitation:
    """An invitation that is neither accepted nor revoked."""

    invite: Invite
    known: VerifiedChain | None
    inviter: bytes


@dataclass
class State:
    """What a roster says after an entry."""

    life: Life | None = None  # the last one opened; None before entry 0
    is_open: bool = False
    encryption: int = PER_RECORD  # of the zone
    settings: Settings | None = None  # of this life: the scope is shared from the first on
    members: dict[bytes, Member] = field(default_factory=dict)  # the owner among them
    invitations: dict[bytes, OpenInvitation] = field(default_factory=dict)
    blocked: frozenset[bytes] = frozenset()
    epoch: Epoch | None = None  # the one in force
    rotation_due: bool = False
    # Of all lives:
    used_seats: frozenset[bytes] = frozenset()
    chains: dict[bytes, VerifiedChain] = field(default_factory=dict)  # the newest that the log has of a user
    ever_members: frozenset[bytes] = frozenset()

    def copy(self) -> State:
        """A copy whose tables can be changed; what is in them cannot."""
        duplicate = copy.copy(self)
        duplicate.members = dict(self.members)
        duplicate.invitations = dict(self.invitations)
        duplicate.chains = dict(self.chains)
        return duplicate

    def without_life(self) -> State:
        """What outlasts a life: the ids that stay used, and who somebody is."""
        return State(
            life=self.life, encryption=self.encryption, used_seats=self.used_seats, chains=dict(self.chains),
            ever_members=self.ever_members,
        )

    def seats_taken(self) -> int:
        """Members and open invitations beside the owner."""
        return len(self.members) - 1 + len(self.invitations)

    def subjects(self) -> set[tuple[int, bytes]]:
        """Whom a new epoch has to cover."""
        subjects = {(MEMBER, user) for user in self.members}
        subjects |= {(SEAT, identifier) for identifier in self.invitations}
        if self.settings is not None and self.settings.seat is not None:
            subjects.add((SEAT, self.settings.seat.id))
        return subjects


@dataclass(frozen=True)
class Step:
    """An accepted entry and what the roster says after it."""

    hash: bytes
    entry: Entry
    state: State


class Roster:
    """A replayed roster. `append` accepts the next entry or changes nothing."""

    @property
    def root_record(self) -> str | None:
        """Of a hierarchical share, as its newest `open` names it."""
        openings = (change for step in self.steps for change in step.entry.changes if isinstance(change, Open))
        return list(openings)[-1].root_record if self.steps else None

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.scope_id = scope.id
        self.steps: list[Step] = []
        self.epochs: dict[tuple[Life, int], Epoch] = {}

    def copy(self) -> Roster:
        duplicate = copy.copy(self)
        duplicate.steps = list(self.steps)
        duplicate.epochs = dict(self.epochs)
        return duplicate

    @property
    def state(self) -> State:
        return self.steps[-1].state if self.steps else State()

    @property
    def head(self) -> bytes:
        return self.steps[-1].hash if self.steps else ZERO_DIGEST

    def has(self, head: Head) -> bool:
        """Whether a head is of this log."""
        return any(step.entry.sequence == head.sequence and step.hash == head.hash for step in self.steps)

    def append(self, data: bytes, signature: bytes) -> None:
        """Refuses an entry that breaks a rule."""
        from .rules import apply  # the rules know the roster's types

        entry = Entry.decode(data)
        state = apply(self, entry, data, signature)
        self.steps.append(Step(entry_hash(data), entry, state))
        if entry.epoch is not None:
            assert state.life is not None
            self.epochs[(state.life, entry.epoch.number)] = entry.epoch

    def context(self, life: Life, epoch: int) -> EpochContext:
        return EpochContext(self.scope_id, life, epoch)

    def epoch(self, life: Life, number: int) -> Epoch:
        return present(self.epochs.get((life, number)), Reason.STALE_EPOCH, "no such epoch in the roster")
