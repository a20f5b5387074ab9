"""Statements: record statements, their encoding and which one follows which. `reading.py` verifies them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import limits
from .codec import ZERO_DIGEST, Reader, Writer, check_canonical, checked_record_type
from .errors import Reason, require
from .notation import hash_, le32
from .scope import EpochContext, Life

SAVE, DELETE = 1, 2
KINDS = {SAVE: "save", DELETE: "delete"}
SHARE_TYPE, ZONE_SHARE = "cloudkit.share", "cloudkit.zoneshare"


@dataclass(frozen=True)
class FormerScope:
    """The scope and incarnation that a record was in before."""

    scope_id: bytes
    incarnation: int


@dataclass(frozen=True)
class Statement:
    kind: int
    container: str
    environment: int
    owner: bytes
    zone: str
    zone_incarnation: int
    record: str
    type: str
    creator: bytes
    author: bytes
    client_time: int
    revision: int
    previous: bytes
    scope_id: bytes
    scope_incarnation: int
    epoch: int
    former_scope: FormerScope | None
    wrapped_key: bytes
    key_carried: bool  # wrapped anew, and made in an earlier epoch or another scope
    roster_sequence: int
    roster_head: bytes
    checkpoint: bytes  # signed with the rest; no rule looks at it
    parent: str | None
    share: str | None
    salt: bytes
    fields: bytes

    @property
    def life(self) -> Life:
        return Life(self.zone_incarnation, self.scope_incarnation)

    @property
    def is_public(self) -> bool:
        """Whether it is of the public database, which has no scopes."""
        return self.scope_id == ZERO_DIGEST

    @property
    def is_share(self) -> bool:
        """Whether it is the share's record."""
        return self.type == SHARE_TYPE or self.record == ZONE_SHARE

    @property
    def place(self) -> FormerScope:
        """Its scope and incarnation, as a successor in another one names them."""
        return FormerScope(self.scope_id, self.scope_incarnation)

    @property
    def zone_place(self) -> tuple[object, ...]:
        return self.container, self.environment, self.owner, self.zone, self.zone_incarnation

    def leaving(self, before: Statement) -> Statement:
        """This statement, naming its predecessor's scope if it is another."""
        return replace(self, former_scope=before.place if self.place != before.place else None)

    @property
    def epoch_context(self) -> EpochContext:
        return EpochContext(self.scope_id, self.life, self.epoch)

    @property
    def record_context(self) -> bytes:
        """"Record sealing": what a record's ciphertexts are bound to."""
        return hash_(
            "record-context",
            self.container.encode(),
            bytes([self.environment]),
            self.owner,
            self.zone.encode(),
            le32(self.zone_incarnation),
            self.record.encode(),
            self.type.encode(),
        )

    def encode(self) -> bytes:
        writer = Writer().u8(self.kind).name(self.container).u8(self.environment).id(self.owner)
        writer.name(self.zone).u32(self.zone_incarnation).name(self.record).name(self.type)
        writer.id(self.creator).id(self.author).i64(self.client_time)
        writer.u64(self.revision).digest(self.previous)
        writer.digest(self.scope_id).u32(self.scope_incarnation).u32(self.epoch)
        writer.optional(self.former_scope, lambda former: writer.digest(former.scope_id).u32(former.incarnation))
        writer.blob(self.wrapped_key).flag(self.key_carried)
        writer.u64(self.roster_sequence).digest(self.roster_head).digest(self.checkpoint)
        writer.optional(self.parent, writer.name).optional(self.share, writer.name)
        return writer.id(self.salt).digest(self.fields).data

    @staticmethod
    def decode(data: bytes) -> Statement:
        reader = Reader(data)
        statement = Statement(
            kind=reader.choice(tuple(KINDS), "kind of statement"),
            container=reader.container(),
            environment=reader.environment(),
            owner=reader.id(),
            zone=reader.name(),
            zone_incarnation=reader.u32(),
            record=reader.name(),
            type=checked_record_type(reader.name()),
            creator=reader.id(),
            author=reader.id(),
            client_time=reader.i64(),
            revision=reader.u64(),
            previous=reader.digest(),
            scope_id=reader.digest(),
            scope_incarnation=reader.u32(),
            epoch=reader.u32(),
            former_scope=reader.optional(lambda: FormerScope(reader.digest(), reader.u32())),
            wrapped_key=reader.blob(),
            key_carried=reader.flag(),
            roster_sequence=reader.u64(),
            roster_head=reader.digest(),
            checkpoint=reader.digest(),
            parent=reader.optional(reader.name),
            share=reader.optional(reader.name),
            salt=reader.id(),
            fields=reader.digest(),
        )
        reader.end()
        statement._check()
        check_canonical(data, statement.encode())
        return statement

    def _check(self) -> None:
        """What makes a statement undecodable beside its encoding."""
        require(1 <= self.revision <= limits.REVISION, Reason.MALFORMED, "a revision out of range")
        first = self.revision == 1
        require(first == (self.previous == ZERO_DIGEST), Reason.MALFORMED, "a predecessor, or none")
        sealed = self.kind == SAVE and not self.is_public
        expected = limits.WRAPPED_KEY if sealed else 0
        require(len(self.wrapped_key) == expected, Reason.LENGTH, "a wrapped key of another length")
        if self.former_scope is not None:
            require(self.kind == SAVE and not first, Reason.MALFORMED, "a former scope where none can be")
            require(self.former_scope != self.place, Reason.MALFORMED, "a former scope that is the present one")
        require(self.parent != self.record, Reason.MALFORMED, "its own parent")
        if self.key_carried:
            require(self.kind == SAVE and not first, Reason.MALFORMED, "a carried key where none can be")
            require(not self.is_public, Reason.MALFORMED, "a carried key in the public database")
        if self.is_public:
            zeros = (self.scope_incarnation, self.epoch, self.roster_sequence) == (0, 0, 0)
            require(zeros and self.roster_head == ZERO_DIGEST, Reason.MALFORMED, "a roster's, yet of no scope")
            require(self.zone_incarnation == 1, Reason.MALFORMED, "another life of the public database")
            require(self.former_scope is None, Reason.MALFORMED, "a former scope in the public database")


def statement_hash(data: bytes) -> bytes:
    return hash_("statement", data)


def check_successor(statement: Statement, before: Statement, before_hash: bytes) -> None:
    """"Successor": whether a statement follows another of the same record."""
    same = statement.zone_place == before.zone_place and statement.record == before.record
    require(same, Reason.SUCCESSOR, "another record's statement")
    require(statement.revision == before.revision + 1, Reason.SUCCESSOR, "not the next revision")
    require(statement.previous == before_hash, Reason.SUCCESSOR, "another predecessor")
    require(statement == statement.leaving(before), Reason.SUCCESSOR, "another former scope than its predecessor's")
    stays = statement.place == before.place
    known = not stays or statement.roster_sequence >= before.roster_sequence
    require(known, Reason.SUCCESSOR, "a head older than its predecessor's")
    if before.kind == DELETE:
        made_again = statement.kind == SAVE and statement.creator == statement.author
        require(made_again, Reason.SUCCESSOR, "not made again by its creator")
    else:
        kept = (statement.type, statement.creator) == (before.type, before.creator)
        require(kept, Reason.SUCCESSOR, "another type or creator")


def check_later(statement: Statement, seen: Statement, seen_hash: bytes) -> None:
    """"Later": whether a record may have become this since a reader saw it, by one revision or more."""
    if statement.revision <= seen.revision + 1:
        check_successor(statement, seen, seen_hash)
        return
    same = statement.zone_place == seen.zone_place and statement.record == seen.record
    require(same, Reason.SUCCESSOR, "another record's statement")
    stays = statement.place == seen.place
    require(stays or statement.author == statement.owner, Reason.SUCCESSOR, "moved by somebody else than the owner")
    known = not stays or statement.roster_sequence >= seen.roster_sequence
    require(known, Reason.SUCCESSOR, "a head older than one seen")
