"""Statements, "Fields": digests of fields and of sets of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import limits
from .codec import Reader, Writer, check_canonical, checked_identifier, strictly_ascending
from .errors import Reason, require
from .notation import hash_
from .values import ASSET, REFERENCE, Value, check_tag, decode_value, encode_value

PLAIN, ENCRYPTED, ASSET_CLASS, PUBLIC_ASSET = 1, 2, 3, 4


@dataclass(frozen=True)
class Field:
    """A field as stored."""

    name: str
    class_: int
    tag: int
    stored: bytes

    def check(self) -> None:
        """What holds before anything is opened: the name, the class, the tag that goes with it."""
        checked_identifier(self.name)
        known = self.class_ in (PLAIN, ENCRYPTED, ASSET_CLASS, PUBLIC_ASSET)
        require(known, Reason.MALFORMED, "an unknown field class")
        is_asset = self.class_ in (ASSET_CLASS, PUBLIC_ASSET)
        require(is_asset == (self.tag == ASSET), Reason.MALFORMED, "an asset's tag, or not")
        if self.class_ == PLAIN:
            require(decode_value(self.stored).tag == self.tag, Reason.MALFORMED, "a value of another tag")
        elif self.class_ == ENCRYPTED:
            check_sealable(self.tag)
        elif self.class_ == ASSET_CLASS:
            Commitment.decode(self.stored)
        else:
            PublicCommitment.decode(self.stored)

    def check_database(self, public: bool) -> None:
        """Sealed classes do not occur in the public database, the public class nowhere else."""
        allowed = (PLAIN, PUBLIC_ASSET) if public else (PLAIN, ENCRYPTED, ASSET_CLASS)
        require(self.class_ in allowed, Reason.MALFORMED, "a field class of another database")

    @property
    def digest(self) -> bytes:
        self.check()
        return hash_("field", self.name.encode(), bytes([self.class_]), bytes([self.tag]), self.stored)


def plain(name: str, value: Value) -> Field:
    return Field(name, PLAIN, value.tag, encode_value(value))


def check_sealable(tag: int) -> None:
    """References and assets are never encrypted values."""
    check_tag(tag)
    require(tag & 0xF != REFERENCE, Reason.UNSUPPORTED, "a reference is never encrypted")


def fields_digest(fields: Sequence[tuple[str, bytes]]) -> bytes:
    """`H(fields, name, digest, …)`, strictly ascending by the bytes of the name."""
    require(len(fields) <= limits.FIELDS, Reason.LENGTH, "too many fields")
    for name, _ in fields:
        checked_identifier(name)
    require(strictly_ascending(name.encode() for name, _ in fields), Reason.MALFORMED, "fields out of order")
    return hash_("fields", *(piece for name, digest in fields for piece in (name.encode(), digest)))


def check_fields(
    fields: Sequence[Field | tuple[str, bytes]], expected: bytes, public: bool = False, asked: Sequence[str] = ()
) -> None:
    """Step 6: the fields that came, with their bytes or as name and digest, are those that were signed; one
    that was asked for came with its bytes."""
    pairs = []
    for field in fields:
        if isinstance(field, Field):
            field.check_database(public)
            pairs.append((field.name, field.digest))
        else:
            require(field[0] not in asked, Reason.FIELDS, "a field that was asked for came as a digest")
            pairs.append(field)
    require(fields_digest(pairs) == expected, Reason.FIELDS, "not the fields that were signed")


@dataclass(frozen=True)
class Commitment:
    """What is stored of an asset."""

    salt: bytes
    chunk_count: int
    root: bytes
    descriptor: bytes

    def encode(self) -> bytes:
        return Writer().digest(self.salt).u64(self.chunk_count).digest(self.root).blob(self.descriptor).data

    @staticmethod
    def decode(data: bytes) -> Commitment:
        reader = Reader(data)
        commitment = Commitment(reader.digest(), reader.u64(), reader.digest(), reader.blob(limits.DESCRIPTOR))
        reader.end()
        in_range = 1 <= commitment.chunk_count <= limits.CHUNKS
        require(in_range, Reason.MALFORMED, "no chunk, or too many")
        require(len(commitment.descriptor) == limits.DESCRIPTOR, Reason.LENGTH, "a descriptor of another length")
        check_canonical(data, commitment.encode())
        return commitment


@dataclass(frozen=True)
class PublicCommitment:
    """What is stored of an asset in the public database."""

    size: int
    root: bytes

    def encode(self) -> bytes:
        return Writer().u64(self.size).digest(self.root).data

    @staticmethod
    def decode(data: bytes) -> PublicCommitment:
        reader = Reader(data)
        commitment = PublicCommitment(reader.u64(), reader.digest())
        reader.end()
        require(commitment.size <= limits.ASSET, Reason.LENGTH, "an asset larger than its limit")
        return commitment
