"""What several vector files have in common: how they write values, scopes, rosters, statements."""

from __future__ import annotations

from dataclasses import dataclass

from ..codec import ENVIRONMENTS, user_id
from ..errors import Disagreement
from ..identity import SignedIdentity
from ..reading import Proof, verify_statement
from ..roster import Roster
from ..scope import EpochContext, Life, Scope
from ..statements import KINDS as STATEMENT_KINDS
from ..statements import FormerScope, Statement, statement_hash
from ..values import ACTIONS, KINDS, LIST, Location, Payload, Reference, Value
from ..vectorfile import Fields

_ENVIRONMENTS = {name: number for number, name in ENVIRONMENTS.items()}
_STATEMENT_KINDS = {name: number for number, name in STATEMENT_KINDS.items()}
_KINDS = {name: number for number, name in KINDS.items()}
_ACTIONS = {name: number for number, name in ACTIONS.items()}


def _number(table: dict[str, int], name: str) -> int:
    if name not in table:
        raise Disagreement(f"{name!r} is no name that we know")
    return table[name]


# Values, as `valuejson` writes them


def _bits(text: str) -> int:
    if len(text) != 16:
        raise Disagreement("a double has 16 digits")
    return int(text, 16)


def _payload(kind: str, fields: Fields) -> Payload:
    if kind == "string":
        return fields.text("string")
    if kind == "data":
        return fields.hex("data")
    if kind == "int64":
        return fields.number("number")
    if kind in ("double", "date"):
        return _bits(fields.text("bits"))
    if kind == "location":
        return Location(tuple(_bits(text) for text in fields.texts("bits")), _bits(fields.text("timestamp")))
    return Reference(fields.text("recordName"), _number(_ACTIONS, fields.text("action")))


def value_of(fields: Fields) -> Value:
    kind = fields.text("kind")
    if "list" not in fields:
        return Value(_number(_KINDS, kind), _payload(kind, fields))
    if kind == "list":
        if fields.children("list"):
            raise Disagreement("elements of no kind")
        return Value(LIST, ())
    tag = _number(_KINDS, kind)
    elements = []
    for element in fields.children("list"):
        if element.text("kind") != kind:
            raise Disagreement("a list of another kind than its elements")
        elements.append(_payload(kind, element))
    return Value(tag | LIST, tuple(elements))


# Scopes and rosters


def environment_of(fields: Fields) -> int:
    return _number(_ENVIRONMENTS, fields.text("environment"))


def scope_of(fields: Fields) -> Scope:
    return Scope(
        container=fields.text("container"),
        environment=environment_of(fields),
        owner=user_id(fields.text("owner")),
        zone=fields.text("zoneName"),
        share_record=fields.text("shareRecordName"),
    )


def context_of(fields: Fields) -> EpochContext:
    life = Life(fields.number("zoneIncarnation"), fields.number("scopeIncarnation"))
    return EpochContext(fields.hex("scopeID"), life, fields.number("epoch"))


def chain_of(fields: Fields, name: str) -> tuple[SignedIdentity, ...]:
    """An identity chain, not verified."""
    return tuple(
        SignedIdentity(g.hex("identity"), g.hex("signature"), g.hex("previousSignature"))
        for g in fields.children(name)
    )


def digests_of(fields: Fields, name: str) -> tuple[tuple[str, bytes], ...]:
    """Fields by their digests."""
    return tuple((field.text("name"), field.hex("digest")) for field in fields.children(name))


def entries_of(fields: Fields, name: str) -> list[tuple[bytes, bytes]]:
    return [(entry.hex("entry"), entry.hex("signature")) for entry in fields.children(name)]


_replayed: dict[tuple[Scope, tuple[tuple[bytes, bytes], ...]], Roster] = {}


def roster_of(shared: Fields) -> Roster:
    """A group's roster, replayed once. A copy, which a test may go on with."""
    scope = scope_of(shared.child("scope"))
    entries = tuple(entries_of(shared, "entries")) if "entries" in shared else ()
    if (scope, entries) not in _replayed:
        roster = Roster(scope)
        for data, signature in entries:
            roster.append(data, signature)
        _replayed[(scope, entries)] = roster
    return _replayed[(scope, entries)].copy()


# Statements


def proof_of(fields: Fields) -> Proof:
    return Proof(
        signature=fields.hex("signature"),
        leaf_count=fields.small("leafCount"),
        index=fields.small("index"),
        path=tuple(fields.hexes("path")),
    )


def _former_scope(fields: Fields) -> FormerScope | None:
    if "formerScope" not in fields:
        return None
    former = fields.child("formerScope")
    return FormerScope(former.hex("scopeID"), former.number("incarnation"))


def statement_of(fields: Fields) -> Statement:
    return Statement(
        kind=_number(_STATEMENT_KINDS, fields.text("kind")),
        container=fields.text("container"),
        environment=environment_of(fields),
        owner=user_id(fields.text("owner")),
        zone=fields.text("zoneName"),
        zone_incarnation=fields.number("zoneIncarnation"),
        record=fields.text("recordName"),
        type=fields.text("recordType"),
        creator=user_id(fields.text("creator")),
        author=user_id(fields.text("author")),
        client_time=fields.number("clientTime"),
        revision=fields.number("revision"),
        previous=fields.hex("previous"),
        scope_id=fields.hex("scopeID"),
        scope_incarnation=fields.number("scopeIncarnation"),
        epoch=fields.number("epoch"),
        former_scope=_former_scope(fields),
        wrapped_key=fields.hex("wrappedKey"),
        key_carried=bool(fields.raw("isKeyCarried")),
        roster_sequence=fields.number("rosterSequence"),
        roster_head=fields.hex("rosterHead"),
        checkpoint=fields.hex("checkpoint"),
        parent=fields.text("parent") if "parent" in fields else None,
        share=fields.text("share") if "share" in fields else None,
        salt=fields.hex("salt"),
        fields=fields.hex("fieldsDigest"),
    )


@dataclass(frozen=True)
class Verified:
    """A signed statement of a vector, verified in its roster."""

    statement: Statement
    hash: bytes
    roster: Roster


def rosters_of(shared: Fields) -> dict[str, Roster]:
    """A group's rosters: a zone's, and that of a share in it."""
    rosters = shared.child("rosters")
    return {name: roster_of(rosters.child(name)) for name in ("zone", "share", "other")}


def verified_of(fields: Fields, rosters: dict[str, Roster]) -> Verified:
    """What was asked for is the statement's own record."""
    data, name = fields.hex("statement"), fields.text("roster")
    if name not in rosters:
        raise Disagreement(f"no roster {name!r}")
    roster = rosters[name]
    statement = verify_statement(data, proof_of(fields.child("proof")), Statement.decode(data).record, roster)
    return Verified(statement, statement_hash(data), roster)
