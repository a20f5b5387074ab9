"""client-write.json."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..codec import user_id
from ..deletions import Taken
from ..errors import Disagreement, Refused
from ..registry import Case, check
from ..remembering import Known, Named, NotCovered, Reader, Shown, Verdict
from ..roster import Roster
from ..statements import DELETE, SAVE, Statement
from ..values import Value, decode_value
from ..vectorfile import Fields
from ..writing import (
    ROUNDS, Answer, Item, Places, Round, Version, conflict, course_of_whole, deletion_of, going, keeps_key,
    next_statement, objection, outcome, public_statement, readiness, repetition, restored,
)
from .clients import Judged, named_record, whole_record
from .common import entries_of, scope_of


def _values(fields: Fields, name: str) -> dict[str, Value]:
    return {one.text("name"): decode_value(one.hex("value")) for one in fields.children(name)}


def _version(fields: Fields) -> Version:
    return Version(Statement.decode(fields.hex("statement")), _values(fields, "fields") if "fields" in fields else {})


def _item(fields: Fields) -> Item:
    last = _version(fields.child("last")) if "last" in fields else None
    if "delete" in fields:
        if last is None or last.statement.record != fields.text("delete"):
            raise Disagreement("a deletion of nothing")
        return deletion_of(last)
    return Item(
        name=fields.text("save"), deletes=False, type=fields.text("type"),
        parent=fields.text("parent") if "parent" in fields else None, values=_values(fields, "fields"),
        changed=frozenset(fields.texts("changed")), last=last, fetched=last,
    )


@dataclass
class _Script:
    logs: dict[str, Fields]
    writer: bytes
    policy: str
    atomic: bool
    items: list[Item]
    reader: Reader
    zone: bytes
    rosters: dict[bytes, Roster] = field(default_factory=dict)
    given: dict[str, Item] = field(default_factory=dict)
    stored: set[str] = field(default_factory=set)
    covered: dict[str, list[tuple[str, bytes, Statement]]] = field(default_factory=dict)
    rounds: int = 0
    judged: Judged = field(default_factory=Judged)

    @property
    def is_last(self) -> bool:
        return self.rounds == ROUNDS

    def know(self, rosters: list[Fields]) -> None:
        self.rosters = {}
        for known in rosters:
            log = self.logs[known.text("roster")]
            roster = Roster(scope_of(log.child("scope")))
            entries = entries_of(log, "entries")
            if known.small("entries") > len(entries):
                raise Disagreement("more entries than the roster has")
            for data, signature in entries[: known.small("entries")]:
                roster.append(data, signature)
            self.rosters[roster.scope_id] = roster
        self.reader.rosters = self.rosters

    def remember(self, statement: Statement, digest: bytes, is_gone: bool = False) -> None:
        """One's own, which is stored (R-SEEN-9, R-TAKEN-8)."""
        self.reader.known[statement.record] = Known(statement, digest, self.reader.step + 1)
        if is_gone:
            self.reader.gone[statement.record] = (digest, self.reader.step + 1)

    # A round

    def along(self, item: Item) -> list[tuple[str, bytes, Statement]]:
        names = {one.name for one in self.items}
        return [one for one in self.covered.get(item.name, []) if one[0] not in names] if item.deletes else []

    def send(self, step: Fields) -> None:
        self.rounds += 1
        places = Places(self.items, self.rosters, self.zone)
        step.expect("asksFor", places.asks_for())
        for parent in step.children("parents") if "parents" in step else []:
            statement = Statement.decode(parent.hex("statement"))
            places.parents[statement.record] = statement.scope_id
        unplaced: dict[str, str] = {}
        placed: list[tuple[Item, bytes]] = []
        for item in self.items:
            scope = places.scope(item)
            refusal = places.refusal(item, scope, self.writer)
            if refusal is not None:
                unplaced[item.name] = refusal
            elif scope is not None:
                placed.append((item, scope))
        step.expect("unplaced", unplaced)
        if self.atomic and any(refusal != "isGone" for refusal in unplaced.values()):
            placed = []
        self.items = [item for item, _ in placed]
        sends = step.children("sends")
        if len(sends) != len(placed):
            raise Disagreement("others are sent")
        sent = []
        for (item, scope), expected in zip(placed, sends, strict=True):
            try:
                sealed = Statement.decode(expected.hex("statement"))
            except Refused as refusal:
                raise Disagreement(f"what is sent is no statement: {refusal}") from None
            taken = Taken.of([(name, digest) for name, digest, _ in self.along(item)])
            statement = next_statement(item, self.rosters[scope], self.writer, sealed.client_time, taken)
            statement = replace(statement, wrapped_key=sealed.wrapped_key, salt=sealed.salt)
            expected.expect("statement", statement.encode())
            if not item.deletes:
                expected.expect("keepsKey", keeps_key(item, self.rosters[scope]))
            sent.append(statement)
        if self.items:
            self.settle(step, sent)

    @staticmethod
    def taken(fields: Fields) -> list[Named] | None:
        return [named_record(one) for one in fields.children("taken")] if "taken" in fields else None

    def answer(self, fields: Fields) -> Answer:
        shown = whole_record(fields.child("shows"))[0] if "shows" in fields else None
        readable = False
        if shown is not None and shown.tombstone is None and not shown.departed:
            readable = Statement.decode(shown.record.data).scope_id in self.rosters
        return Answer(
            stored=fields.text("stored") if "stored" in fields else None,
            code=fields.text("code") if "code" in fields else None, shows=shown is not None, readable=readable,
            dependents=tuple(fields.texts("dependents")) if "dependents" in fields else (),
        )

    def settle(self, step: Fields, sent: list[Statement]) -> None:
        fields = step.children("answers")
        if len(fields) != len(self.items):
            raise Disagreement("as many answers as items")
        answers = [self.answer(one) for one in fields]
        taken = [self.taken(one) for one in fields]
        round_ = Round(self.items, answers, self.atomic, self.is_last, frozenset(self.stored))
        looks_up = [self.items[number].name for number in round_.looks_up()]
        step.expect("looksUp", looks_up)
        found = {}
        for one in step.children("found") if "found" in step else []:
            shown, values = whole_record(one)
            if shown.beside is None:
                raise AssertionError("a record without a name")
            found[shown.beside.name] = shown, values
        for number, item in enumerate(self.items):
            if answers[number].stored == item.name:
                along = self.along(item)
                self.stored.add(item.name)
                self.remember(sent[number], Version(sent[number], {}).hash)
                for _, digest, statement in along:
                    self.remember(statement, digest, is_gone=True)
        following = list(self.items)
        verdicts: list[str] = []
        for number, item in enumerate(self.items):
            course = round_.course(number)
            if course == "stored":
                verdicts.append("deleted" if item.deletes else "saved")
            elif course in ("conflict", "denied"):
                if item.name in looks_up:
                    there = found.get(item.name)
                else:
                    there = whole_record(fields[number].child("shows"))
                verdict, again = self.meet(item, there, course == "denied")
                verdicts.append(verdict)
                if again is not None:
                    following[number] = again
                    round_.again.append(number)
                    round_.rebased = True
                elif verdict == "isGone":
                    round_.gone += 1
            elif course == "covers":
                verdict = self.cover(item, taken[number])
                verdicts.append(verdict)
                if verdict in ("covers", "again"):
                    round_.again.append(number)
            elif course == "absent":
                verdicts.append(self.nothing(item.name))
            elif course == "unsaid":
                self.judged.refused("unsaid", None)
                verdicts.append("unsaid")
            else:
                verdicts.append(course)
                lists = {"takesOthers": round_.waiting, "behind": round_.behind, "refused": round_.refused}
                if course in lists:
                    lists[course].append(number)
        added = self.dependents(step, round_)
        order, failed = round_.following(len(added))
        for number in failed:
            verdicts[number] = "batchFailed"
        if not added:
            for number in round_.waiting:
                verdicts[number] = "refused"
        step.expect("verdicts", verdicts)
        following += added
        self.items = [following[number] for number in order]
        step.expect("again", [item.name for item in self.items])

    # What is shown

    def nothing(self, name: str) -> str:
        verdict = self.reader.nothing(name, self.reader.step)
        if not verdict.believes:
            self.judged.refused(verdict.value, None)
        return verdict.value

    def look(self, shown: Shown, name: str | None) -> tuple[str, bool]:
        """The verdict on it, and whether it is believed."""
        [(verdict, reason)] = self.reader.meet([replace(shown, name=name)], self.reader.step, frozenset())
        if not verdict.believes:
            self.judged.refused(verdict.value, reason)
        return verdict.value, verdict.believes

    def meet(
        self, item: Item, there: tuple[Shown, dict[str, Value]] | None, denied: bool
    ) -> tuple[str, Item | None]:
        if there is None:
            return self.nothing(item.name), None
        shown, values = there
        verdict, believed = self.look(shown, item.name)
        if not believed:
            return verdict, None
        version = Version(Statement.decode(shown.record.data), values)
        is_gone = version.statement.kind == DELETE or shown.tombstone is not None
        if denied and not is_gone and item.last is not None and version.hash == item.last.hash:
            self.judged.refused(Verdict.WITHHELD.value, None)
            return Verdict.WITHHELD.value, None
        item = self.given.get(item.name, item)
        outcome = conflict(item, version, is_gone, self.policy, self.is_last)
        if outcome in ("deletesNewest", "makesAgain"):
            return outcome, item.following(version)
        return outcome, item.merged(version, self.policy == "allKeys") if outcome == "merges" else None

    def cover(self, item: Item, named: list[Named] | None) -> str:
        if named is None:
            return "again"
        if item.last is None:
            raise AssertionError("a deletion of nothing")
        try:
            hashes = self.reader.cover(named, item.last.statement)
        except Refused as refusal:
            self.judged.refused(Verdict.UNVERIFIED.value, refusal.reason)
            return Verdict.UNVERIFIED.value
        except NotCovered as doubt:
            self.judged.refused(doubt.verdict.value, None)
            return doubt.verdict.value
        statements = [Statement.decode(one.shown.record.data) for one in named]
        self.covered[item.name] = [
            (statement.record, digest, statement) for statement, digest in zip(statements, hashes, strict=True)
        ]
        return "covers"

    def dependents(self, step: Fields, round_: Round) -> list[Item]:
        if not round_.waiting:
            return []
        versions = []
        for one in step.children("dependents") if "dependents" in step else []:
            shown, values = whole_record(one)
            statement = Statement.decode(shown.record.data)
            _, believed = self.look(shown, None)
            if believed and statement.kind != DELETE:
                versions.append(Version(statement, values))
        deleted = {item.name for item in self.items if item.deletes}
        return [deletion_of(version) for version in going(deleted, versions)]


@check("client-write", "Batch")
def batch(case: Case) -> None:
    fields, rosters = case.fields, case.shared.child("rosters")
    logs = {name: rosters.child(name) for name in case.shared.raw("rosters")}
    zone = scope_of(logs["zone"].child("scope"))
    writer = user_id(fields.text("writer"))
    items = [_item(item) for item in fields.children("items")]
    script = _Script(
        logs=logs, writer=writer, policy=fields.text("policy"), atomic=bool(fields.raw("atomic")), items=items,
        reader=Reader(writer, zone.owner), zone=zone.id, given={item.name: item for item in items},
    )
    for item in items:
        if item.last is not None:
            script.remember(item.last.statement, item.last.hash)
    for number, step in enumerate(fields.children("steps")):
        script.reader.step = number + 1
        if "knows" in step:
            script.know(step.children("knows"))
        elif "readies" in step:
            roster = script.rosters[scope_of(logs[step.text("readies")].child("scope")).id]
            step.expect("verdict", readiness(roster, writer))
        elif "whole" in step:
            script.rounds += 1
            step.expect("verdict", course_of_whole(step.text("whole"), script.is_last))
        elif "nothing" in step:
            step.expect("verdict", script.nothing(step.text("nothing")))
        elif "shown" in step:
            step.expect("verdict", script.look(whole_record(step)[0], None)[0])
        else:
            script.send(step)
    script.judged.finish()
    for log in logs.values():
        scope_of(log.child("scope"))
        entries_of(log, "entries")


def _known(fields: Fields, name: str) -> tuple[int, bytes] | None:
    if name not in fields:
        return None
    version = fields.child(name)
    return version.number("revision"), version.hex("hash")


@check("client-write", "Restored")
def lost(case: Case) -> None:
    fields = case.fields
    again = restored(
        _known(fields, "seen"), _known(fields, "copied"), _known(fields, "stored"), fields.number("gap")
    )
    fields.expect("verdict", "notLost" if again is None else "lost")
    if again is not None:
        fields.expect("revision", again[0])
        fields.expect("previous", again[1])


@check("client-write", "Repetition")
def repeated(case: Case) -> None:
    fields = case.fields
    sent = Statement.decode(fields.hex("sent"))
    is_gone, is_repeatable = bool(fields.raw("isGone")), bool(fields.raw("isRepeatable"))
    fields.expect("verdict", repetition(sent, fields.hex("there"), is_gone, is_repeatable))


@check("client-write", "Conflict")
def conflicts(case: Case) -> None:
    fields = case.fields
    fields.expect(
        "verdict", outcome(fields.text("item"), fields.text("there"), fields.text("policy"), bool(fields.raw("isLast")))
    )


@check("client-write", "Objection")
def objections(case: Case) -> None:
    fields = case.fields
    there, last = (fields.hex(name) if name in fields else None for name in ("there", "last"))
    is_gone = there is not None and bool(fields.raw("isGone"))
    is_denied, is_rekeying = bool(fields.raw("isDenied")), bool(fields.raw("isRekeying"))
    fields.expect("verdict", objection(there, is_gone, last, is_denied, is_rekeying))


@check("client-write", "Public")
def public(case: Case) -> None:
    fields = case.fields
    last = Statement.decode(fields.hex("last")) if "last" in fields else None
    kind = SAVE if "save" in fields else DELETE
    name = fields.text("save" if kind == SAVE else "delete")
    statement = public_statement(
        scope_of(fields.child("scope")), kind, name, fields.text("type"), last, user_id(fields.text("author")),
        fields.number("clientTime"),
    )
    fields.expect("statement", statement.encode())
