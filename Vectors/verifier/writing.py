""""Save" and "Delete": what a writer signs, where, and what it makes of the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from . import limits
from .codec import READ_WRITE, ZERO_DIGEST
from .deletions import Taken, refers
from .fields import fields_digest, plain
from .roster import Roster
from .scope import Scope
from .statements import DELETE, SAVE, FormerScope, Statement, statement_hash
from .values import Value

ROUNDS = 8
_ROSTER_CODES = ("rosterChanged", "staleEpoch", "rotationDue")
NO_ZONE = ("zoneNotFound", "userDeletedZone")
_NO_SALT = bytes(16)
Values = Mapping[str, Value]


@dataclass(frozen=True)
class Version:
    """A version of a record: its statement, and its plain fields."""

    statement: Statement
    values: Values

    @property
    def hash(self) -> bytes:
        return statement_hash(self.statement.encode())


@dataclass(frozen=True)
class Item:
    """A record that is saved or deleted. `fetched` stays what the app gave; `last` is what is followed."""

    name: str
    deletes: bool
    type: str
    parent: str | None
    values: Values
    changed: frozenset[str]
    last: Version | None
    fetched: Version | None

    def following(self, last: Version) -> Item:
        return replace(self, last=last)

    def merged(self, there: Version, takes_all: bool) -> Item:
        """What the app gave, put into another version."""
        values = dict(there.values)
        for name in set(self.values) if takes_all else self.changed & set(self.values):
            values[name] = self.values[name]
        for name in self.changed - set(self.values):
            values.pop(name, None)
        before = self.fetched.statement.parent if self.fetched is not None else None
        parent = self.parent if self.parent != before else there.statement.parent
        return replace(self, values=values, parent=parent, type=there.statement.type, last=there)

    def shows_the_same(self, there: Version) -> bool:
        """Nothing that the app could see is another: only who signed it, under which key."""
        before = self.fetched
        if before is None or before.statement.kind != SAVE:
            return False
        parts = [(s.type, s.parent, s.share, s.creator) for s in (before.statement, there.statement)]
        return dict(before.values) == dict(there.values) and parts[0] == parts[1]


def deletion_of(version: Version) -> Item:
    return Item(version.statement.record, True, version.statement.type, None, {}, frozenset(), version, version)


# Placement


@dataclass
class Places:
    """R-PLACE-1, R-PLACE-5: which scope each record is signed for."""

    items: Sequence[Item]
    rosters: Mapping[bytes, Roster]
    zone: bytes
    parents: dict[str, bytes] = field(default_factory=dict)

    def _stays(self, item: Item) -> bool:
        """It is where it remains: a root, or below the parent that it has."""
        last = item.last.statement if item.last is not None else None
        if last is None or last.kind != SAVE or (last.share is None and last.parent != item.parent):
            return False
        roster = self.rosters.get(last.scope_id)
        return roster is not None and roster.state.is_open

    def asks_for(self) -> list[str]:
        names = {item.name for item in self.items}
        parents = {item.parent for item in self.items if not item.deletes and not self._stays(item)}
        return sorted(parent for parent in parents if parent is not None and parent not in names)

    def scope(self, item: Item) -> bytes | None:
        by_name = {item.name: item for item in reversed(self.items)}
        seen: set[str] = set()
        while item.name not in seen:
            seen.add(item.name)
            if item.deletes or self._stays(item):
                return item.last.statement.scope_id if item.last is not None else None
            if item.parent is None:
                return self.zone if self.zone in self.rosters else None
            if item.parent not in by_name:
                return self.parents.get(item.parent, self._only())
            item = by_name[item.parent]
        return self._only()

    def _only(self) -> bytes | None:
        if self.zone in self.rosters:
            return self.zone
        return next(iter(self.rosters)) if len(self.rosters) == 1 else None

    def refusal(self, item: Item, scope: bytes | None, writer: bytes) -> str | None:
        """Why it is not signed for that scope; None where it is."""
        last = item.last.statement if item.last is not None else None
        zone_life = max(roster.state.life.zone for roster in self.rosters.values() if roster.state.life is not None)
        if last is not None and last.zone_incarnation < zone_life:
            return "isGone" if item.deletes else "past"
        if last is not None and last.zone_incarnation > zone_life:
            return "unknown"
        roster = self.rosters.get(scope) if scope is not None else None
        is_share = roster is not None and roster.scope.share_record != ""
        if item.deletes and roster is not None and is_share and not roster.state.is_open:
            return "leftBehind"
        moves = last is not None and last.scope_id != scope
        is_out = roster is None or (is_share and (not roster.state.is_open or writer not in roster.state.members))
        owner = next(iter(self.rosters.values())).scope.owner
        if scope is not None and not is_out and (not moves or writer == owner):
            return None
        return "moves" if moves and scope is not None else "outside"


def readiness(roster: Roster, writer: bytes) -> str:
    """Whether a scope may be written to as it is."""
    state = roster.state
    if not state.is_open:
        return "ended" if roster.scope.share_record else "notMember"
    member = state.members.get(writer)
    if member is None:
        return "notMember"
    return "keyDue" if member.permission == READ_WRITE and state.rotation_due else "ready"


# Sealing


def keeps_key(item: Item, roster: Roster) -> bool:
    """R-SEAL-1 to 3."""
    last, state = item.last, roster.state
    if last is None or last.statement.kind != SAVE or state.life is None or state.epoch is None:
        return False
    context = roster.context(state.life, state.epoch.number)
    return last.statement.epoch_context == context and not last.statement.key_carried


def next_statement(item: Item, roster: Roster, writer: bytes, time: int, taken: Taken) -> Statement:
    """Without a wrapped key and a salt, which are the sealer's."""
    scope, state = roster.scope, roster.state
    if state.life is None or state.epoch is None:
        raise AssertionError("a roster without a life")
    last = item.last.statement if item.last is not None else None
    place = FormerScope(roster.scope_id, state.life.scope)
    digests = [(name, plain(name, item.values[name]).digest) for name in sorted(item.values)]
    return Statement(
        kind=DELETE if item.deletes else SAVE, container=scope.container, environment=scope.environment,
        owner=scope.owner, zone=scope.zone, zone_incarnation=state.life.zone, record=item.name, type=item.type,
        creator=last.creator if last is not None and last.kind == SAVE else writer, author=writer, client_time=time,
        revision=(last.revision if last is not None else 0) + 1,
        previous=item.last.hash if item.last is not None else ZERO_DIGEST, scope_id=roster.scope_id,
        scope_incarnation=state.life.scope, epoch=state.epoch.number,
        former_scope=last.place if last is not None and last.place != place else None, wrapped_key=b"",
        key_carried=False, roster_sequence=len(roster.steps) - 1, roster_head=roster.head, checkpoint=ZERO_DIGEST,
        parent=(last.parent if last is not None else None) if item.deletes else item.parent,
        share=last.share if item.deletes and last is not None else None, salt=_NO_SALT,
        fields=taken.digest if item.deletes else fields_digest(digests),
    )


def public_statement(
    scope: Scope, kind: int, name: str, record_type: str, last: Statement | None, author: bytes, time: int
) -> Statement:
    """R-PUB-1 to R-PUB-6, without salt and fields."""
    return Statement(
        kind=kind, container=scope.container, environment=scope.environment, owner=scope.owner, zone=scope.zone,
        zone_incarnation=1, record=name, type=record_type,
        creator=last.creator if last is not None and last.kind == SAVE else author, author=author, client_time=time,
        revision=(last.revision if last is not None else 0) + 1,
        previous=statement_hash(last.encode()) if last is not None else ZERO_DIGEST, scope_id=ZERO_DIGEST,
        scope_incarnation=0, epoch=0, former_scope=None, wrapped_key=b"", key_carried=False, roster_sequence=0,
        roster_head=ZERO_DIGEST, checkpoint=ZERO_DIGEST,
        parent=last.parent if kind == DELETE and last is not None else None, share=None, salt=_NO_SALT,
        fields=ZERO_DIGEST,
    )


# Settlement


@dataclass(frozen=True)
class Answer:
    """What is said of an item, before anything of it is believed."""

    stored: str | None = None
    code: str | None = None
    shows: bool = False
    readable: bool = False  # what it shows goes by a roster that is at hand
    dependents: tuple[str, ...] = ()


def conflict(item: Item, there: Version, is_gone: bool, policy: str, is_last: bool) -> str:
    """Another version stands in the way: what becomes of the item."""
    kind = "deletion" if item.deletes else "new" if item.fetched is None else "fetched"
    if is_gone:
        return outcome(kind, "gone", policy, is_last)
    return outcome(kind, "same" if item.shows_the_same(there) else "other", policy, is_last)


def outcome(kind: str, there: str, policy: str, is_last: bool) -> str:
    """The same, by what the item is and what there is."""
    if kind == "deletion":
        if there == "gone":
            return "isGone"
        return "keepsChanging" if is_last else "deletesNewest"
    if there == "gone":
        if kind == "fetched":
            return "deleted"
        return "keepsChanging" if is_last else "makesAgain"
    if there.startswith("unopened"):
        if policy != "allKeys" or is_last:
            return "unopened"
        return "replaces" if there == "unopened" else "otherType"
    merges = policy in ("changedKeys", "allKeys") or there == "same"
    return "merges" if merges and not is_last else "changed"


def objection(there: bytes | None, is_gone: bool, last: bytes | None, is_denied: bool, is_rekeying: bool) -> str:
    """What an answer is found out by, whatever the policy."""
    is_same = there is not None and not is_gone and there == last
    if is_denied and is_same:
        return "hidden"
    return "written" if is_rekeying and not is_same else "none"


@dataclass
class Round:
    """A request that was answered: each item has its course, and then those that go again go together."""

    items: Sequence[Item]
    answers: Sequence[Answer]
    atomic: bool
    is_last: bool
    stored_before: frozenset[str]
    again: list[int] = field(default_factory=list)
    behind: list[int] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    gone: int = 0
    rebased: bool = False
    refused: list[int] = field(default_factory=list)

    def course(self, number: int) -> str:
        item, answer = self.items[number], self.answers[number]
        if answer.stored is not None:
            return "stored" if answer.stored == item.name else "unsaid"
        if item.name in self.stored_before and not item.deletes:
            return "stored"
        if answer.code is None:
            return "unsaid"
        if answer.code == "serverRecordChanged":
            return "conflict"
        if answer.code == "unknownItem":
            return "conflict" if answer.shows else "denied"
        if answer.code in NO_ZONE and not answer.shows:
            return "absent"
        if answer.code == "deletionIncomplete" and item.deletes:
            return "keepsGrowing" if self.is_last else "covers"
        if self.is_last:
            return "refused"
        if item.deletes and answer.dependents:
            names = {item.name for item in self.items}
            return "takesOthers" if self.atomic or set(answer.dependents) <= names else "waits"
        return "behind" if answer.code in _ROSTER_CODES else "refused"

    def looks_up(self) -> list[int]:
        conflicts = [n for n in range(len(self.items)) if self.course(n) in ("conflict", "denied")]
        hidden = [n for n in conflicts if not self.answers[n].readable]
        return conflicts if self.atomic and hidden else hidden

    def following(self, added: int) -> tuple[list[int], list[int]]:
        """The numbers of those that go again, in order, the added ones after the items; and of those that fail."""
        extra = list(range(len(self.items), len(self.items) + added))
        siblings = [n for n in self.refused if self.answers[n].code == "batchRequestFailed"]
        violations = [n for n in self.refused if self.answers[n].code == "referenceViolation"]
        again = list(self.again)
        if added:
            again += self.waiting
        else:
            violations += self.waiting
        again += self.behind
        again += violations if self.rebased else self._passing(violations, again if self.atomic else again + siblings)
        if not self.atomic:
            return again + extra + siblings, []
        if not again and not self.gone:
            return extra, []
        if len(again) + len(siblings) + self.gone == len(self.items):
            return again + siblings + extra, []
        return [], again

    def _passing(self, violations: list[int], again: list[int]) -> list[int]:
        """A deletion beside others that go again, and a save below a parent that does."""
        if not again:
            return []
        saved = {self.items[n].name for n in again if not self.items[n].deletes}
        passing = [n for n in violations if self.items[n].deletes]
        blocked = [n for n in violations if not self.items[n].deletes]
        while True:
            fresh = [n for n in blocked if self.items[n].parent in saved]
            if not fresh:
                return passing
            saved |= {self.items[n].name for n in fresh}
            blocked = [n for n in blocked if n not in fresh]
            passing += fresh


def going(deleted: set[str], named: Sequence[Version]) -> list[Version]:
    """R-ALONG-1 to 3: of the records that a server has named, those that refer to what is deleted."""
    found: list[Version] = []
    grown = True
    while grown:
        grown = False
        for version in named:
            values = version.values.values()
            if version.statement.record not in deleted and any(refers(value, deleted) for value in values):
                deleted = deleted | {version.statement.record}
                found.append(version)
                grown = True
    return found


def course_of_whole(code: str, is_last: bool) -> str:
    """What a writer does about a request that was refused as a whole."""
    courses = {"zoneNotFound": "asksForScopes", "permissionFailure": "asksForRights"}
    courses.update({code: "refreshesRosters" for code in _ROSTER_CODES})
    return "ends" if is_last else courses.get(code, "ends")


# What a server has lost, and what got no answer


def restored(
    seen: tuple[int, bytes] | None, copied: tuple[int, bytes] | None, stored: tuple[int, bytes] | None, gap: int
) -> tuple[int, bytes] | None:
    """R-LOST-4: revision and predecessor of what is saved again; None where nothing was lost."""
    known = [version for version in (seen, copied) if version is not None]
    if not known:
        return None
    last = max(known, key=lambda version: version[0])
    if stored is not None and (stored[0] > last[0] or stored[1] == last[1]):
        return None
    revision = max(last[0], stored[0] if stored is not None else 0) + 2 + gap
    if revision > limits.REVISION:
        raise AssertionError("a revision out of range")
    return revision, last[1]


def repetition(sent: Statement, there: bytes, is_gone: bool, is_repeatable: bool) -> str:
    """What became of a request without an answer, by what there is under its record's name."""
    if is_gone and sent.kind == DELETE:
        return "isGone"
    if not is_gone and sent.kind == SAVE and there == statement_hash(sent.encode()):
        return "stored"
    return "open" if is_repeatable or there == sent.previous else "mayHaveComeLater"
