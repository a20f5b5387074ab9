"""Rosters, "Entry": the changes that entries make.

A new change is a class with `TAG`, `read` and `write`, listed in `CHANGES`; its rule is in `rules_scope.py`
or `rules_people.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from . import limits
from .codec import NO_PERMISSION, READ_ONLY, READ_WRITE, Reader, Writer, strictly_ascending
from .errors import Reason, present, require
from .identity import SignedIdentity, read_chain, write_chain
from .scope import Life, Scope

Chain = tuple[SignedIdentity, ...]

OWNER, ADMINISTRATOR, PRIVATE_USER, PUBLIC_USER = 1, 2, 3, 4
# How a zone is encrypted: records may be shared by themselves, or the zone as a whole alone.
PER_RECORD, PER_ZONE = 0, 1


class Change(Protocol):
    TAG: ClassVar[int]

    def write(self, writer: Writer) -> None: ...


@dataclass(frozen=True)
class Head:
    """An entry of a log, as its newest."""

    sequence: int
    hash: bytes


@dataclass(frozen=True)
class Open:
    TAG: ClassVar[int] = 1
    scope: Scope
    life: Life
    encryption: int  # of the zone: PER_RECORD or PER_ZONE
    root_record: str | None
    abandoned: Head | None
    chain: Chain

    @staticmethod
    def read(reader: Reader) -> Open:
        container, environment, owner = reader.container(), reader.environment(), reader.id()
        zone, share = reader.name(), reader.string(limits.NAME)
        return Open(
            scope=Scope(container, environment, owner, zone, share),
            life=Life(reader.u32(), reader.u32()),
            encryption=reader.choice((PER_RECORD, PER_ZONE), "encryption scope"),
            root_record=reader.optional(reader.name),
            abandoned=reader.optional(lambda: Head(reader.u64(), reader.digest())),
            chain=read_chain(reader),
        )

    def write(self, writer: Writer) -> None:
        scope = self.scope
        writer.name(scope.container).u8(scope.environment).id(scope.owner)
        writer.name(scope.zone).string(scope.share_record)
        writer.u32(self.life.zone).u32(self.life.scope).u8(self.encryption)
        writer.optional(self.root_record, writer.name)
        writer.optional(self.abandoned, lambda head: writer.u64(head.sequence).digest(head.hash))
        write_chain(writer, self.chain)


@dataclass(frozen=True)
class PublicSeat:
    """What everyone with the share-wide URL accepts, while the public permission is not none."""

    id: bytes
    signing_key: bytes
    grant_key: bytes
    grant_hash: bytes


@dataclass(frozen=True)
class Settings:
    TAG: ClassVar[int] = 2
    public_permission: int
    link_id: bytes
    seat: PublicSeat | None

    @staticmethod
    def read(reader: Reader) -> Settings:
        permission = reader.choice((NO_PERMISSION, READ_ONLY, READ_WRITE), "public permission")
        link_id, seat = reader.digest(), None
        if permission != NO_PERMISSION:
            seat = PublicSeat(reader.id(), reader.raw(32), reader.raw(limits.GRANT_KEY), reader.digest())
        return Settings(permission, link_id, seat)

    def write(self, writer: Writer) -> None:
        writer.u8(self.public_permission).digest(self.link_id)
        if self.seat is not None:
            writer.id(self.seat.id).raw(self.seat.signing_key, 32)
            writer.raw(self.seat.grant_key, limits.GRANT_KEY).digest(self.seat.grant_hash)


@dataclass(frozen=True)
class Address:
    reader: bytes
    sealed: bytes


@dataclass(frozen=True)
class Invite:
    TAG: ClassVar[int] = 3
    id: bytes
    permission: int
    known: Chain | None
    signing_key: bytes
    grant_key: bytes
    grant_hash: bytes
    expires: int
    addresses: tuple[Address, ...]

    @staticmethod
    def read(reader: Reader) -> Invite:
        identifier, permission = reader.id(), reader.permission()
        known = reader.optional(lambda: read_chain(reader))
        signing_key, grant_key = reader.raw(32), reader.raw(limits.GRANT_KEY)
        grant_hash, expires, count = reader.digest(), reader.i64(), reader.u16()
        require(count <= limits.ADDRESSES, Reason.LENGTH, "too many addresses")
        addresses = tuple(Address(reader.id(), reader.blob(limits.ADDRESS)) for _ in range(count))
        require(strictly_ascending(a.reader for a in addresses), Reason.MALFORMED, "addresses out of order")
        return Invite(identifier, permission, known, signing_key, grant_key, grant_hash, expires, addresses)

    def write(self, writer: Writer) -> None:
        writer.id(self.id).u8(self.permission)
        writer.optional(self.known, lambda chain: write_chain(writer, chain))
        writer.raw(self.signing_key, 32).raw(self.grant_key, limits.GRANT_KEY)
        writer.digest(self.grant_hash).i64(self.expires).u16(len(self.addresses))
        for address in self.addresses:
            writer.id(address.reader).blob(address.sealed)


@dataclass(frozen=True)
class Revoke:
    TAG: ClassVar[int] = 4
    id: bytes

    @staticmethod
    def read(reader: Reader) -> Revoke:
        return Revoke(reader.id())

    def write(self, writer: Writer) -> None:
        writer.id(self.id)


@dataclass(frozen=True)
class Accept:
    TAG: ClassVar[int] = 5
    invitation: bytes
    chain: Chain
    signature: bytes

    @staticmethod
    def read(reader: Reader) -> Accept:
        return Accept(reader.id(), read_chain(reader), reader.raw(64))

    def write(self, writer: Writer) -> None:
        writer.id(self.invitation)
        write_chain(writer, self.chain)
        writer.raw(self.signature, 64)


@dataclass(frozen=True)
class SetPermission:
    TAG: ClassVar[int] = 6
    user: bytes
    permission: int

    @staticmethod
    def read(reader: Reader) -> SetPermission:
        return SetPermission(reader.id(), reader.permission())

    def write(self, writer: Writer) -> None:
        writer.id(self.user).u8(self.permission)


@dataclass(frozen=True)
class SetRole:
    TAG: ClassVar[int] = 7
    user: bytes
    role: int

    @staticmethod
    def read(reader: Reader) -> SetRole:
        return SetRole(reader.id(), reader.choice((ADMINISTRATOR, PRIVATE_USER), "role"))

    def write(self, writer: Writer) -> None:
        writer.id(self.user).u8(self.role)


@dataclass(frozen=True)
class Remove:
    TAG: ClassVar[int] = 8
    user: bytes

    @staticmethod
    def read(reader: Reader) -> Remove:
        return Remove(reader.id())

    def write(self, writer: Writer) -> None:
        writer.id(self.user)


@dataclass(frozen=True)
class Leave:
    TAG: ClassVar[int] = 9

    @staticmethod
    def read(reader: Reader) -> Leave:
        return Leave()

    def write(self, writer: Writer) -> None:
        pass


@dataclass(frozen=True)
class NewIdentity:
    """The author's generations after those that the roster has."""

    TAG: ClassVar[int] = 10
    generations: Chain

    @staticmethod
    def read(reader: Reader) -> NewIdentity:
        return NewIdentity(read_chain(reader))

    def write(self, writer: Writer) -> None:
        write_chain(writer, self.generations)


@dataclass(frozen=True)
class Block:
    TAG: ClassVar[int] = 11
    user: bytes

    @staticmethod
    def read(reader: Reader) -> Block:
        return Block(reader.id())

    def write(self, writer: Writer) -> None:
        writer.id(self.user)


@dataclass(frozen=True)
class Unblock:
    TAG: ClassVar[int] = 12
    user: bytes

    @staticmethod
    def read(reader: Reader) -> Unblock:
        return Unblock(reader.id())

    def write(self, writer: Writer) -> None:
        writer.id(self.user)


@dataclass(frozen=True)
class Close:
    TAG: ClassVar[int] = 13

    @staticmethod
    def read(reader: Reader) -> Close:
        return Close()

    def write(self, writer: Writer) -> None:
        pass


CHANGES: dict[int, Callable[[Reader], Change]] = {
    Open.TAG: Open.read,
    Settings.TAG: Settings.read,
    Invite.TAG: Invite.read,
    Revoke.TAG: Revoke.read,
    Accept.TAG: Accept.read,
    SetPermission.TAG: SetPermission.read,
    SetRole.TAG: SetRole.read,
    Remove.TAG: Remove.read,
    Leave.TAG: Leave.read,
    NewIdentity.TAG: NewIdentity.read,
    Block.TAG: Block.read,
    Unblock.TAG: Unblock.read,
    Close.TAG: Close.read,
}


def read_change(reader: Reader) -> Change:
    read = present(CHANGES.get(reader.u8()), Reason.MALFORMED, "an unknown change")
    return read(reader)
