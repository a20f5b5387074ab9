""""Follow a roster", "Forks" and "Restored servers": a device of an account, and what it believes of a scope's log."""

from __future__ import annotations

from dataclasses import dataclass, field

from .changes import Head, Open
from .entries import Entry
from .errors import Reason, Refused
from .forks import succeeds
from .identity import VerifiedChain
from .roster import Roster
from .scope import Scope

Signed = tuple[bytes, bytes]  # an entry, and its signature


class Doubted(Exception):
    """What a server shows is not believed, by the name that the vectors have for it."""

    def __init__(self, name: str, reason: Reason | None = None) -> None:
        super().__init__(name)
        self.name = name
        self.reason = reason


@dataclass(frozen=True)
class Tail:
    """What a server answers who asks for what follows an entry."""

    entries: tuple[Signed, ...]
    more_coming: bool
    head_sequence: int
    head: bytes
    abandoned: tuple[Signed, ...] = ()
    whole: tuple[Signed, ...] = ()  # the server's log from entry 0 on, for who asks for that


def replayed(scope: Scope, entries: tuple[Signed, ...]) -> Roster:
    roster = Roster(scope)
    for data, signature in entries:
        roster.append(data, signature)
    return roster


@dataclass
class Follower:
    scope: Scope
    own: VerifiedChain
    floor: Head | None  # the head that came at the enrolment (R-ENROL-8)
    roster: Roster = field(init=False)
    entries: list[Signed] = field(default_factory=list)
    given_back: int | None = None

    def __post_init__(self) -> None:
        self.roster = Roster(self.scope)

    @property
    def knows(self) -> int:
        return len(self.roster.steps)

    def meet(self, tail: Tail) -> str:
        """Step 3, and the rest. Raises `Doubted`."""
        if tail.more_coming and not tail.entries:
            raise Doubted("endless")
        if not self.knows:
            return self._apply(tail)
        if len(tail.head) != 32:
            raise Doubted("unknownEnd")
        own_end = self.knows - 1
        if tail.head_sequence < own_end and self.roster.steps[tail.head_sequence].hash == tail.head:
            raise Doubted(self._give_back())  # 3.1
        if self._goes_on(tail, own_end):
            return self._apply(tail)
        if tail.entries and tail.entries[0] in self.entries:
            raise Doubted("endless")
        return self._fork(tail)  # 3.2

    def _goes_on(self, tail: Tail, own_end: int) -> bool:
        if tail.head_sequence == own_end:
            return tail.head == self.roster.head
        if tail.head_sequence < own_end:
            return False
        if not tail.entries:
            return True
        try:
            return Entry.decode(tail.entries[0][0]).previous == self.roster.head
        except Refused:
            return True  # "Rules" say what is wrong with it

    def _give_back(self) -> str:
        """Once the same."""
        again = self.given_back == self.knows
        self.given_back = self.knows
        return "shortened" if again else "mended"

    # Step 4 and 5

    def _apply(self, tail: Tail) -> str:
        fresh = [entry for entry in tail.entries if entry not in self.entries]
        roster = self.roster.copy()
        for data, signature in fresh:
            try:
                roster.append(data, signature)
            except Refused as refusal:
                if refusal.reason is Reason.NOT_NEXT:
                    raise Doubted("forked") from None
                raise Doubted("invalid", refusal.reason) from None
        if not roster.steps:
            raise Doubted("unknownScope")
        self._check_floor(roster, is_last=not tail.more_coming)
        if fresh:
            self._check_own_keys(roster)
        self.roster = roster
        self.entries += fresh
        if self.floor is not None and self._reaches(roster, self.floor):
            self.floor = None
        return "accepted"

    def _check_floor(self, roster: Roster, is_last: bool) -> None:
        if self.floor is None or self._reaches(roster, self.floor):
            return
        if len(roster.steps) > self.floor.sequence:
            raise Doubted("forked")
        if is_last:
            raise Doubted("shortened")

    @staticmethod
    def _reaches(roster: Roster, head: Head) -> bool:
        """Whether the log has it, or its owner has given the branch up that ends with it."""
        changes = (change for step in roster.steps for change in step.entry.changes)
        return roster.has(head) or any(isinstance(change, Open) and change.abandoned == head for change in changes)

    def _check_own_keys(self, roster: Roster) -> None:
        """R-GEN-5."""
        known = roster.state.chains.get(self.own.user)
        if known is None or self.own.continues(known):
            return
        raise Doubted("keysReplaced" if known.continues(self.own) else "foreignKeys")

    # Forks

    def _fork(self, tail: Tail) -> str:
        branch = self.roster.copy()
        for data, signature in tail.abandoned:  # R-FORK-4
            try:
                branch.append(data, signature)
            except Refused:
                break
        try:
            theirs = replayed(self.scope, tail.whole)
        except Refused:
            raise Doubted("forked") from None
        if not theirs.steps or not succeeds(branch, theirs):
            raise Doubted("forked")
        self._check_own_keys(theirs)
        self.roster, self.entries = theirs, list(tail.whole)
        return "succeeded"

    def end_fork(self, log: tuple[Signed, ...], given: Head | None) -> str:
        """"End a fork", step 2."""
        try:
            theirs = replayed(self.scope, log)
        except Refused as refusal:
            raise Doubted("invalid", refusal.reason) from None
        has_own_branch = any(entry not in log for entry in self.entries)
        own = Head(self.knows - 1, self.roster.head)
        head = given or (own if has_own_branch else None)
        if head is None:
            raise Doubted("notForked")
        if theirs.has(head):
            raise Doubted("notAbandonable")
        if has_own_branch and head != own:
            raise Doubted("yetAnotherBranch")
        return "endedOwn" if has_own_branch else "ended"
