""""What a reader remembers", "Derived deletions" and "Moving": a reader of a zone's scopes, and what it believes.

Every judgement is a `Verdict`; what the reader takes over it remembers, and nothing else of what it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from .deletions import Leaf, Link, check_along, check_notice
from .errors import Reason, Refused, present, require
from .fields import check_fields
from .reading import Proof, verify_departure, verify_statement
from .roster import Roster
from .scope import Scope
from .statements import DELETE, SAVE, SHARE_TYPE, FormerScope, Statement, check_later, statement_hash
from .values import Value


class Verdict(Enum):
    ACCEPTED = "accepted"
    UNKNOWN_DELETION = "unknownDeletion"
    OVERTAKEN = "overtaken"
    UNSEEN = "unseen"
    UNVERIFIED = "unverified"
    OLDER = "older"
    FORKED = "forked"
    BEHIND = "behind"
    MISPLACED = "misplaced"
    CHANGED = "changed"
    BACKDATED = "backdated"
    WITHHELD = "withheld"

    @property
    def believes(self) -> bool:
        return self in (Verdict.ACCEPTED, Verdict.UNKNOWN_DELETION, Verdict.OVERTAKEN, Verdict.UNSEEN)


@dataclass(frozen=True)
class Signed:
    """A statement as it comes."""

    data: bytes
    proof: Proof

    @property
    def hash(self) -> bytes:
        return statement_hash(self.data)


@dataclass(frozen=True)
class Beside:
    """What is shown beside a statement; of the fields each as name and digest, and which came as digests alone."""

    name: str
    type: str
    deleted: bool
    fields: tuple[tuple[str, bytes], ...] = ()
    withheld: frozenset[str] = frozenset()
    desired: tuple[str, ...] | None = None  # which fields were asked for; None for all

    def check(self, statement: Statement) -> None:
        """R-READ-6 of what is no field."""
        require(self.name == statement.record, Reason.CONTEXT, "another name beside the statement")
        require(self.type == statement.type, Reason.CONTEXT, "another type beside the statement")

    def check_gone(self, statement: Statement) -> None:
        """A notice or departure gives nothing of the record."""
        require(self.deleted, Reason.CONTEXT, "a record that is gone, said to be there")
        require(not self.fields, Reason.CONTEXT, "a field of a record that is gone")
        self.check(statement)

    def check_record(self, statement: Statement) -> None:
        self.check(statement)
        require(self.deleted == (statement.kind == DELETE), Reason.CONTEXT, "a deletion as a record, or a record as one")
        if statement.kind == DELETE:
            require(not self.fields, Reason.FIELDS, "a field of a deletion")
            return
        asked = self.withheld if self.desired is None else self.withheld & set(self.desired)
        require(not asked, Reason.FIELDS, "a field that was asked for came as a digest")
        check_fields(self.fields, statement.fields)


@dataclass(frozen=True)
class Shown:
    """A record of an answer: its statement, and what came beside it."""

    record: Signed
    name: str | None = None  # which was asked for
    moved: Signed | None = None
    tombstone: Signed | None = None
    leaf: Leaf | None = None
    departed: bool = False
    beside: Beside | None = None


@dataclass(frozen=True)
class Sighting:
    """What was shown, verified."""

    statement: Statement
    hash: bytes
    moved: Statement | None = None
    tombstone: tuple[Statement, bytes] | None = None
    departed: bool = False
    replaced_in: int | None = None  # of a departure: the epoch of the scope left in which its key was replaced there
    covered: bool = False  # named for a deletion: of what was accepted as gone it says nothing new

    @property
    def takes_away(self) -> bool:
        """A deletion, notice or departure."""
        return self.tombstone is not None or self.departed or self.statement.kind == DELETE


@dataclass(frozen=True)
class Named:
    """A record that is said to go along with a deletion: by its field with that value."""

    shown: Shown
    field: str
    value: Value | None
    others: tuple[tuple[str, bytes], ...]


class NotCovered(Exception):
    """What was seen of a record speaks against covering it."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.value)
        self.verdict = verdict


@dataclass
class Known:
    """What is remembered of a record."""

    statement: Statement
    hash: bytes
    noted: int  # the step at which it was
    is_there: bool = True  # False after an absence, until it is met again (R-SEEN-10)


@dataclass
class Reader:
    user: bytes
    owner: bytes
    rosters: dict[bytes, Roster] = field(default_factory=dict)  # those that it reads, by scope
    known: dict[str, Known] = field(default_factory=dict)
    gone: dict[str, tuple[bytes, int]] = field(default_factory=dict)  # by which statement, and since which step
    marks: dict[FormerScope, int] = field(default_factory=dict)
    step: int = 0  # those made before

    # Which scopes it reads

    def _may_read(self, place: FormerScope) -> bool:
        """The owner reads all of them."""
        if self.user == self.owner:
            return True
        roster = self.rosters.get(place.scope_id)
        return roster is not None and roster.state.life is not None and roster.state.life.scope == place.incarnation

    def read_to(self, roster: Roster, sequence: int) -> None:
        """Sets the marks of R-SEEN-4 ("Read", step 8) of each life that had begun by then."""
        marks: dict[FormerScope, int] = {}
        life = None
        for step in roster.steps[: sequence + 1]:
            state = step.state
            if state.life is None or state.epoch is None:
                raise AssertionError("a roster's entry without a life")
            place = FormerScope(roster.scope_id, state.life.scope)
            if life is not None and life != place and self._is_open_mark(life, roster, marks[life]):
                marks[life] += 1
            life = place
            marks[place] = state.epoch.number + (0 if state.is_open else 1)
        for place, mark in marks.items():
            self.marks[place] = max(self.marks.get(place, mark), mark)

    @staticmethod
    def _is_open_mark(place: FormerScope, roster: Roster, mark: int) -> bool:
        """Whether a life has ended without a close, by the opening of the next one: its mark lies on its last epoch."""
        numbers = [number for life, number in roster.epochs if life.scope == place.incarnation]
        return mark == max(numbers)

    def absent(self, scope_id: bytes) -> None:
        for known in self.known.values():
            if known.statement.scope_id == scope_id:
                known.is_there = False

    # Steps 1 to 6

    def _roster(self, scope_id: bytes) -> Roster:
        return present(self.rosters.get(scope_id), Reason.CONTEXT, "a scope whose roster is not at hand")

    def _verified(self, signed: Signed, name: str | None) -> Statement:
        statement = Statement.decode(signed.data)
        roster = self._roster(statement.scope_id)
        carrying = self.user == self.owner
        return verify_statement(signed.data, signed.proof, name or statement.record, roster, carrying)

    def _sighting(self, shown: Shown) -> Sighting:
        if shown.departed:
            statement = Statement.decode(shown.record.data)
            former = present(statement.former_scope, Reason.CONTEXT, "a departure from nowhere")
            roster = self._roster(former.scope_id)
            _, replaced_in = verify_departure(shown.record.data, shown.record.proof, shown.name or statement.record, roster)
            if shown.beside is not None:
                shown.beside.check_gone(statement)
            return Sighting(statement, shown.record.hash, departed=True, replaced_in=replaced_in)
        statement = self._verified(shown.record, shown.name)
        if shown.tombstone is not None:
            if shown.leaf is None:
                raise AssertionError("a notice without a place")
            tombstone = self._verified(shown.tombstone, None)
            scope: Scope = self._roster(statement.scope_id).scope
            check_notice(statement, shown.record.hash, tombstone, shown.leaf, scope)
            if shown.beside is not None:
                shown.beside.check_gone(statement)
            return Sighting(statement, shown.record.hash, tombstone=(tombstone, shown.tombstone.hash))
        if shown.beside is not None:
            shown.beside.check_record(statement)
        return Sighting(statement, shown.record.hash, moved=self._brought(shown, statement))

    def _brought(self, shown: Shown, statement: Statement) -> Statement | None:
        moved = None
        if shown.moved is not None:
            moved = self._verified(shown.moved, statement.record)
            self._check_move(moved, shown.moved.hash, statement)
        return moved

    @staticmethod
    def _check_move(moved: Statement, moved_hash: bytes, record: Statement) -> None:
        """R-MOVE-7."""
        require(moved.author == moved.owner, Reason.SUCCESSOR, "brought by somebody else than the owner")
        require(moved.former_scope is not None, Reason.SUCCESSOR, "brought from nowhere")
        require(moved.place == record.place, Reason.SUCCESSOR, "brought somewhere else")
        require(moved.revision < record.revision, Reason.SUCCESSOR, "brought there later")
        check_later(record, moved, moved_hash)

    # Step 7

    def meet(
        self, answer: Iterable[Shown], asked: int, late: frozenset[bytes]
    ) -> list[tuple[Verdict, Reason | None]]:
        """Judges one answer; with why it does not verify where it does not."""
        sightings: list[Sighting | Reason] = []
        for shown in answer:
            try:
                sightings.append(self._sighting(shown))
            except Refused as refusal:
                sightings.append(refusal.reason)
        found: list[tuple[Verdict, Reason | None]] = []
        for sighting in sightings:
            if isinstance(sighting, Reason):
                found.append((Verdict.UNVERIFIED, sighting))
            else:
                found.append((self._judge(sighting, asked, late), None))
        # What was seen beyond a departure, where the reader may not look any more, says nothing (R-MOVE-6): all of the
        # answer is known by then.
        for number, sighting in enumerate(sightings):
            if isinstance(sighting, Sighting) and sighting.departed and found[number][0] is Verdict.OLDER:
                if not self._is_there(sighting.statement.record):
                    found[number] = (Verdict.UNKNOWN_DELETION, None)
        return found

    def cover(self, named: Sequence[Named], target: Statement) -> list[bytes]:
        """R-TAKEN-7: the hashes of what a deletion may cover. Raises `Refused`, or `NotCovered` for step 7."""
        roster = self._roster(target.scope_id)
        links, sightings = [], []
        for one in named:
            statement = self._verified(one.shown.record, None)
            present(one.shown.beside, Reason.CONTEXT, "a record without a name").check(statement)
            moved = self._brought(one.shown, statement)
            value = present(one.value, Reason.DELETION, "a reference that does not come")
            links.append(Link(statement, one.field, value, one.others))
            sightings.append(Sighting(statement, one.shown.record.hash, moved=moved, covered=True))
        check_along(links, target, roster.scope, roster.root_record)
        verdicts = [self._judge(sighting, self.step, frozenset()) for sighting in sightings]
        for verdict in verdicts:
            if not verdict.believes:
                raise NotCovered(verdict)
        return [sighting.hash for sighting in sightings]

    # What records of one answer say of each other

    def last_place(self, name: str) -> FormerScope | None:
        """Where a record was that is there still, as far as is known."""
        known = self.known.get(name)
        return known.statement.place if known is not None and self._is_present(name) else None

    def reads_whole_zone(self, scope_id: bytes) -> bool:
        return scope_id in self.rosters

    def is_in_place(self, statement: Statement, places: dict[str, FormerScope]) -> bool:
        """R-PLACE-3, R-PLACE-4, to a participant of shares."""
        roster = self._roster(statement.scope_id)
        share = roster.scope.share_record
        if statement.record == roster.root_record:
            return statement.share == share
        if statement.record == share:
            return statement.type == SHARE_TYPE
        return statement.parent is not None and places.get(statement.parent) == statement.place

    def _judge(self, sighting: Sighting, asked: int, late: frozenset[bytes]) -> Verdict:
        name = sighting.statement.record
        known = self.known.get(name)
        verdict = self._as_gone(sighting, known)
        if verdict is None and known is not None:
            verdict = self._compared(sighting, known)
        if verdict is Verdict.OLDER and self._noted(name) > asked:
            return Verdict.OVERTAKEN
        if verdict is not None:
            return verdict
        if self._is_late(sighting, known) and not self._may_be_late(sighting, late):
            return Verdict.UNKNOWN_DELETION if known is None and sighting.takes_away else Verdict.BACKDATED
        self.known[name] = Known(sighting.statement, sighting.hash, self.step + 1)
        if sighting.tombstone is not None:
            self.gone[name] = (sighting.hash, self.step + 1)
        return Verdict.ACCEPTED

    def _as_gone(self, sighting: Sighting, known: Known | None) -> Verdict | None:
        """R-SEEN-12, and a notice that was accepted before (R-DERIVED-6)."""
        if sighting.statement.record not in self.gone or self.gone[sighting.statement.record][0] != sighting.hash:
            return None
        if sighting.tombstone is None and not sighting.covered:
            return Verdict.OLDER
        made_again = known is not None and known.statement.revision > sighting.statement.revision
        return Verdict.OLDER if made_again else Verdict.ACCEPTED

    def _compared(self, sighting: Sighting, known: Known) -> Verdict | None:
        """R-SEEN-1 to 3; None where it may have become this."""
        statement, before = sighting.statement, known.statement
        if statement.revision < before.revision:
            return Verdict.OLDER
        if statement.revision == before.revision:
            if sighting.hash != known.hash:
                return Verdict.FORKED
            if sighting.tombstone is not None:
                return None
            if not known.is_there:
                known.is_there, known.noted = True, self.step + 1
            return Verdict.ACCEPTED
        for stands in (statement, sighting.moved):
            if stands is not None and self._follows(stands, known):
                return None
        is_next = statement.revision == before.revision + 1
        if is_next and statement.previous != known.hash:
            return Verdict.FORKED
        if statement.place == before.place and statement.roster_sequence < before.roster_sequence:
            return Verdict.BEHIND
        came_from = statement.former_scope or statement.place
        return Verdict.CHANGED if came_from == before.place else Verdict.MISPLACED

    @staticmethod
    def _follows(statement: Statement, known: Known) -> bool:
        try:
            check_later(statement, known.statement, known.hash)
        except Refused:
            return False
        return statement.revision > known.statement.revision

    def _is_late(self, sighting: Sighting, known: Known | None) -> bool:
        """R-SEEN-4; of a notice also R-DERIVED-7."""
        is_new = known is None or known.hash != sighting.hash
        former = sighting.statement.former_scope
        if is_new and sighting.replaced_in is not None and former is not None:
            if self.marks.get(former, -1) > sighting.replaced_in:
                return True
        mark = self.marks.get(sighting.statement.place)
        if mark is None:
            return False
        if sighting.statement.epoch < mark and is_new:
            return True
        if sighting.tombstone is None or sighting.tombstone[0].epoch >= mark:
            return False
        target = self.known.get(sighting.tombstone[0].record)
        return target is None or target.hash != sighting.tombstone[1]

    @staticmethod
    def _may_be_late(sighting: Sighting, late: frozenset[bytes]) -> bool:
        """R-SEEN-14: at its user's word, but neither a notice nor a departure."""
        return sighting.hash in late and sighting.tombstone is None and not sighting.departed

    # What is there

    def _noted(self, name: str) -> int:
        noted = self.known[name].noted if name in self.known else 0
        return max(noted, self.gone[name][1] if name in self.gone else 0)

    def _is_there(self, name: str) -> bool:
        known = self.known.get(name)
        return known is not None and known.is_there and self._may_read(known.statement.place)

    def nothing(self, name: str, asked: int) -> Verdict:
        """R-SEEN-10: the answer that there is no such record, without anything that shows how it ended."""
        if not self._is_there(name):
            return Verdict.UNSEEN
        return Verdict.OVERTAKEN if self._noted(name) > asked else Verdict.WITHHELD

    def missing(self, brought: Iterable[str]) -> list[str]:
        """R-SEEN-13: what a reading of the whole feed has not brought, and has to be asked for."""
        names = self.known.keys() - set(brought)
        return sorted(name for name in names if self._is_there(name) and self._is_present(name))

    def _is_present(self, name: str) -> bool:
        known = self.known[name]
        went = name in self.gone and self.gone[name][0] == known.hash
        return known.statement.kind == SAVE and not went
