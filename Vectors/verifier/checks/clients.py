"""client-judge.json, client-accept.json."""

from __future__ import annotations

from .. import accounts, opening
from ..changes import Head
from ..codec import user_id, user_record_name
from ..deletions import Leaf
from ..errors import Disagreement, Reason, Refused
from ..following import Doubted, Follower, Signed, Tail
from ..registry import Case, check
from ..remembering import Reader, Shown, Verdict
from ..remembering import Signed as SignedStatement
from ..roster import Roster
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
