"""client-judge.json, client-accept.json."""

from __future__ import annotations

from dataclasses import replace

from .. import accounts, opening
from ..changes import Head
from ..codec import user_id, user_record_name
from ..deletions import Leaf, Taken
from ..errors import Disagreement, Reason, Refused
from ..feeds import Feed, Listing, Part
from ..fields import plain
from ..following import Doubted, Follower, Signed, Tail
from ..placement import cycles
from ..registry import Case, check
from ..remembering import Beside, Named, NotCovered, Reader, Shown, Verdict
from ..remembering import Signed as SignedStatement
from ..roster import Roster
from ..statements import SAVE, Statement
from ..values import Value, decode_value
from ..vectorfile import Fields
from .common import chain_of, entries_of, environment_of, proof_of, rosters_of, scope_of


class Judged:
    """The verdicts of a test: each is held against the recorded one; where one refuses, the test is refused."""

    def __init__(self) -> None:
        self.refusal: tuple[str, Reason] | None = None

    def refused(self, name: str, reason: Reason | None) -> None:
        if self.refusal is None:
            self.refusal = name, reason or Reason.DOUBTED

    def finish(self) -> None:
        if self.refusal is not None:
            name, reason = self.refusal
            raise Refused(reason, f"not believed: {name}")


# Records


def _signed(fields: Fields) -> SignedStatement:
    return SignedStatement(fields.hex("statement"), proof_of(fields.child("proof")))


def _shown(fields: Fields) -> Shown:
    leaf = None
    if "tombstone" in fields:
        leaf = Leaf(fields.small("count"), fields.small("index"), tuple(fields.hexes("path")))
    return Shown(
        record=_signed(fields.child("record")),
        name=fields.text("recordName") if "recordName" in fields else None,
        moved=_signed(fields.child("moved")) if "moved" in fields else None,
        tombstone=_signed(fields.child("tombstone")) if "tombstone" in fields else None,
        leaf=leaf,
        departed="departed" in fields and bool(fields.raw("departed")),
    )


@check("client-judge", "Records")
def records(case: Case) -> None:
    rosters = rosters_of(case.shared)
    reader = Reader(user_id(case.fields.text("reader")), rosters["zone"].scope.owner)
    judged = Judged()

    def said(step: Fields, verdict: Verdict) -> None:
        step.expect("verdict", verdict.value)
        if not verdict.believes:
            judged.refused(verdict.value, None)

    for number, step in enumerate(case.fields.children("steps")):
        reader.step = number
        asked = step.small("asked") if "asked" in step else number
        if "reads" in step:
            reader.rosters = {rosters[name].scope_id: rosters[name] for name in step.texts("reads")}
        elif "answer" in step:
            late = frozenset(step.hexes("accepting")) if "accepting" in step else frozenset()
            found = reader.meet([_shown(item) for item in step.children("answer")], asked, late)
            if step.texts("verdicts") != [verdict.value for verdict, _ in found]:
                raise Disagreement(f"step {number}: we say {', '.join(verdict.value for verdict, _ in found)}")
            for verdict, reason in found:
                if not verdict.believes:
                    judged.refused(verdict.value, reason)
        elif "readTo" in step:
            for head in step.children("readTo"):
                name = head.text("shareRecordName")
                roster = next(roster for roster in rosters.values() if roster.scope.share_record == name)
                reader.read_to(roster, head.number("sequence"))
        elif "absentFrom" in step:
            reader.absent(rosters[step.text("absentFrom")].scope_id)
        elif "nothing" in step:
            said(step, reader.nothing(step.text("nothing"), asked))
        elif step.texts("missing") != reader.missing(step.texts("brought")):
            raise Disagreement(f"step {number}: others are missing")
    judged.finish()


# Answers


_A_NO = ("", "unknownItem", "zoneNotFound", "userDeletedZone")


def _field(fields: Fields) -> tuple[str, bytes, Value | None]:
    """Its name and digest, and its value where that came."""
    name = fields.text("name")
    if "digest" in fields:
        return name, fields.hex("digest"), None
    value = decode_value(fields.hex("value"))
    return name, plain(name, value).digest, value


def whole_record(item: Fields, desired: tuple[str, ...] | None = None) -> tuple[Shown, dict[str, Value]]:
    shown, beside = _shown(item), item.child("shown")
    fields = [_field(one) for one in item.children("fields")] if "fields" in item else []
    values = {name: value for name, _, value in fields if value is not None}
    found = Beside(
        name=beside.text("recordName"), type=beside.text("recordType"),
        deleted="deleted" in beside and bool(beside.raw("deleted")),
        fields=tuple((name, digest) for name, digest, _ in fields),
        withheld=frozenset(name for name, _, value in fields if value is None), desired=desired,
    )
    departed = "departed" in beside and bool(beside.raw("departed"))
    return replace(shown, beside=found, departed=departed), values


def named_record(item: Fields) -> Named:
    shown, values = whole_record(item)
    field = item.text("field")
    others = shown.beside.fields if shown.beside is not None else ()
    return Named(shown, field, values.get(field), tuple(other for other in others if other[0] != field))


def _among(step: Fields, shown: list[Shown], verdicts: list[Verdict], reader: Reader, zone: bytes) -> None:
    """What the records that are believed say of each other."""
    believed = [
        (one, Statement.decode(one.record.data)) for one, verdict in zip(shown, verdicts, strict=True) if verdict.believes
    ]
    present = [
        statement for one, statement in believed
        if not one.departed and one.tombstone is None and statement.kind == SAVE
    ]
    step.expect("cycles", cycles(present))
    if reader.reads_whole_zone(zone):
        return
    gone = {statement.record for _, statement in believed if statement not in present}
    places = {statement.record: statement.place for statement in present}
    asks: set[str] = set()
    for child in present:
        parent = child.parent
        if parent is None or parent in places or parent in gone:
            continue
        if reader.last_place(parent) == child.place:
            places[parent] = child.place
        else:
            asks.add(parent)
    step.expect("asksFor", sorted(asks))
    for found in step.children("found") if "found" in step else []:
        name = found.text("recordName")
        if "statement" in found:
            places[name] = Statement.decode(found.hex("statement")).place
    held = [child.record for child in present if not reader.is_in_place(child, places)]
    step.expect("heldBack", sorted(held))


@check("client-judge", "Reading")
def reading(case: Case) -> None:
    rosters = rosters_of(case.shared)
    zone = rosters["zone"].scope
    reader = Reader(user_id(case.fields.text("reader")), zone.owner)
    reader.rosters = {rosters[name].scope_id: rosters[name] for name in case.fields.texts("reads")}
    judged = Judged()
    for number, step in enumerate(case.fields.children("steps")):
        reader.step = number
        if "answer" in step:
            desired = tuple(step.texts("desiredKeys")) if "desiredKeys" in step else None
            shown = [whole_record(item, desired)[0] for item in step.children("answer")]
            found = reader.meet(shown, number, frozenset())
            verdicts = [verdict for verdict, _ in found]
            if step.texts("verdicts") != [verdict.value for verdict in verdicts]:
                raise Disagreement(f"step {number}: we say {', '.join(verdict.value for verdict in verdicts)}")
            for verdict, reason in found:
                if not verdict.believes:
                    judged.refused(verdict.value, reason)
            _among(step, shown, verdicts, reader, zone.id)
        elif "taken" in step:
            _taken(step, reader, judged)
        else:
            name, says = step.text("nothing"), step.text("says")
            told = reader.nothing(name, number)
            step.expect("verdict", told.value if says in _A_NO else "noAnswer")
            if says in _A_NO and not told.believes:
                judged.refused(told.value, None)
    judged.finish()


def _taken(step: Fields, reader: Reader, judged: Judged) -> None:
    named = [named_record(item) for item in step.children("taken")]
    try:
        hashes = reader.cover(named, Statement.decode(step.hex("target")))
    except Refused as refusal:
        step.expect("verdict", Verdict.UNVERIFIED.value)
        return judged.refused(Verdict.UNVERIFIED.value, refusal.reason)
    except NotCovered as doubt:
        step.expect("verdict", doubt.verdict.value)
        return judged.refused(doubt.verdict.value, None)
    step.expect("verdict", "covered")
    names = [Statement.decode(one.shown.record.data).record for one in named]
    step.expect("digest", Taken.of(list(zip(names, hashes, strict=True))).digest)


@check("client-judge", "Feed")
def feed(case: Case) -> None:
    feed, judged = Feed(bool(case.fields.raw("isWhole"))), Judged()
    for step in case.fields.children("steps"):
        if "asks" in step:
            step.expect("brought", [name for name in step.texts("asks") if feed.came(name)])
            continue
        items = [_item(item) for item in step.children("items")]
        part = Part(
            step.text("kind"), step.hex("from"), step.hex("to"), bool(step.raw("moreComing")),
            tuple(name for name, _ in items), tuple(version for _, version in items),
        )
        leads_on = feed.take(part)
        step.expect("verdict", "accepted" if leads_on else "circle")
        if not leads_on:
            judged.refused("circle", None)
    judged.finish()


@check("client-judge", "Listing")
def listing(case: Case) -> None:
    order, judged = case.fields.text("order"), Judged()
    listing = Listing(order, "" if order == "once" else case.fields.text("after"))
    for step in case.fields.children("steps"):
        leads_on = listing.take(step.texts("names"), bool(step.raw("moreComing")))
        step.expect("verdict", "accepted" if leads_on else "circle")
        if not leads_on:
            judged.refused("circle", None)
            break
        step.expect("last", listing.last)
    judged.finish()


def _item(item: Fields) -> tuple[str, object]:
    name = item.text("name")
    if "statement" not in item:
        return name, (name, item.number("version"))
    forms = [form for form in ("deleted", "departed") if form in item and bool(item.raw(form))]
    return name, (item.hex("statement"), *forms)


# Rosters


Logs = dict[str, tuple[Signed, ...]]


def _logs(shared: Fields) -> Logs:
    """All that the group's tests are about: each its own entries, behind the first ones of the log that it parts from."""
    fields = shared.child("logs")
    found = {name: fields.child(name) for name in shared.raw("logs")}
    own: Logs = {name: tuple(entries_of(log, "entries")) for name, log in found.items()}
    return {
        name: (*own[log.text("partsFrom")][: log.small("at")], *own[name]) if "partsFrom" in log else own[name]
        for name, log in found.items()
    }


def _page(fields: Fields, logs: Logs) -> tuple[Signed, ...]:
    first = fields.small("from")
    page = logs[fields.text("log")][first : first + fields.small("count")]
    if len(page) != fields.small("count"):
        raise Disagreement("a page of more entries than the log has")
    return page


def _head(fields: Fields) -> Head:
    return Head(fields.number("sequence"), fields.hex("hash"))


@check("client-judge", "Roster")
def roster(case: Case) -> None:
    fields, logs = case.fields, _logs(case.shared)
    scope = scope_of(case.shared.child("scope"))
    own = opening.own_chain(list(fields.hexes("seeds")), scope.container)
    follower = Follower(scope, own, _head(fields.child("floor")) if "floor" in fields else None)
    judged = Judged()
    for step in fields.children("steps"):
        try:
            if "abandons" in step:
                given = step.child("abandons")
                verdict = follower.end_fork(_page(step, logs), _head(given) if "sequence" in given else None)
            else:
                verdict = follower.meet(_tail(step, logs))
        except Doubted as doubt:
            verdict = doubt.name
            judged.refused(doubt.name, doubt.reason)
        step.expect("verdict", verdict)
        if "abandons" not in step:
            step.expect("knows", follower.knows)
    judged.finish()


def _tail(step: Fields, logs: Logs) -> Tail:
    return Tail(
        entries=_page(step, logs),
        more_coming=bool(step.raw("moreComing")),
        head_sequence=step.number("headSequence"),
        head=step.hex("head"),
        abandoned=_page(step.child("abandoned"), logs) if "abandoned" in step else (),
        whole=logs[step.text("whole")] if "whole" in step else (),
    )


# Shares


def _place(fields: Fields) -> opening.Place:
    return opening.Place(
        fields.text("container"), fields.text("environment"), fields.text("owner"), fields.text("zoneName"),
        fields.text("shareRecordName"),
    )


def _answer(fields: Fields, logs: Logs) -> opening.Page:
    return opening.Page(
        place=_place(fields.child("place")), entries=_page(fields, logs),
        more_coming=bool(fields.raw("moreComing")), seat=fields.hex("invitationID"), grant=fields.hex("grant"),
        preview=fields.hex("preview"),
    )


@check("client-accept", "Share")
def share(case: Case) -> None:
    fields, logs = case.fields, _logs(case.shared)
    url = opening.ShareURL.parse(fields.text("url"))
    container, environment = fields.text("container"), environment_of(fields)
    seeds, time = list(fields.hexes("seeds")), fields.number("time")
    own = opening.own_chain(seeds, container)
    pages = [_answer(page, logs) for page in fields.children("pages")]
    judged = Judged()

    def doubted(stage: str, doubt: Doubted) -> None:
        fields.expect(stage, doubt.name)
        judged.refused(doubt.name, doubt.reason)

    try:
        roster, page = opening.open_share(url, fields.text("server"), container, environment, pages)
        fields.expect("opening", "accepted")
        fields.expect("head", roster.head)
    except Doubted as doubt:
        doubted("opening", doubt)
        return judged.finish()

    seen = None
    if "seenPreview" in fields:
        last = fields.child("seenPreview")
        seen = last.number("rosterSequence"), last.number("time")
    try:
        shown = opening.look(page, roster, url.link_secret, seen)
        fields.expect("preview", "notVouched" if shown is None else "shown")
        if shown is not None:
            fields.expect("title", shown.title)
            fields.expect("previewAuthor", user_record_name(shown.author))
    except Doubted as doubt:
        doubted("preview", doubt)

    try:
        seat = opening.seat_of(page, roster, own.user)
        fields.expect("seat", seat.kind)
        fields.expect("permission", opening.PERMISSIONS[seat.permission])
    except Doubted as doubt:
        doubted("seat", doubt)
        return judged.finish()
    if seat.kind != "member":
        try:
            acceptance = opening.accept(seat, page, roster, url.link_secret, seeds, own, time)
            fields.expect("acceptance", "accepted")
            fields.expect("entry", acceptance.entry)
            fields.expect("signature", acceptance.signature)
            fields.expect("key", acceptance.key)
        except Doubted as doubt:
            doubted("acceptance", doubt)
    judged.finish()


@check("client-accept", "Owner")
def owner(case: Case) -> None:
    fields = case.fields
    url = opening.ShareURL.parse(fields.text("url"))
    place, chain = _place(fields.child("place")), chain_of(fields, "chain")
    judged = Judged()
    try:
        found, scope = opening.owner_of(place, chain, url, fields.text("container"), environment_of(fields))
        fields.expect("verdict", "accepted")
        fields.expect("scopeID", scope.id)
        fields.expect("signingKey", found.signing_key)
    except Doubted as doubt:
        fields.expect("verdict", doubt.name)
        judged.refused(doubt.name, doubt.reason)
    judged.finish()


@check("client-accept", "Bundle")
def bundle(case: Case) -> None:
    fields = case.fields
    key = accounts.passphrase_key(fields.hex("passphrase"), fields.text("name"), fields.text("origin"))
    opened = accounts.open_bundle(key, fields.hex("sealed"))
    own = opening.own_chain(list(opened), fields.text("container"))
    fields.expect("userRecordName", user_record_name(own.user))
    fields.expect("signingKey", own.signing_key)
    fields.expect("bringsBack", list(opened) == list(fields.hexes("seeds")))
