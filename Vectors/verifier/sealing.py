"""Record sealing: record keys, encrypted fields, asset descriptors; and a whole save."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from . import limits, tree
from .deletions import NOTHING_TAKEN
from .errors import Reason, require
from .fields import ASSET_CLASS, ENCRYPTED, Commitment, Field, check_sealable, fields_digest
from .notation import Nonces, kdf, open_, seal
from .scope import EpochContext
from .statements import SAVE, Statement, statement_hash
from .values import Value, pad_value, unpad_value


def wrapping_key(epoch_key: bytes, context: EpochContext) -> bytes:
    return kdf(epoch_key, "record-wrap", *context.pieces)


def wrap_record_key(epoch_key: bytes, statement: Statement, record_key: bytes, nonce: bytes) -> bytes:
    context = statement.epoch_context
    pieces = (*context.pieces, statement.record_context)
    return seal(wrapping_key(epoch_key, context), record_key, nonce, "record-key", *pieces)


def unwrap_record_key(epoch_key: bytes, statement: Statement) -> bytes:
    context = statement.epoch_context
    pieces = (*context.pieces, statement.record_context)
    return open_(wrapping_key(epoch_key, context), statement.wrapped_key, "record-key", *pieces)


def seal_field(record_key: bytes, record_context: bytes, name: str, value: Value, nonce: bytes) -> Field:
    check_sealable(value.tag)
    pieces = (record_context, name.encode(), bytes([value.tag]))
    sealed = seal(record_key, pad_value(value), nonce, "sealed-field", *pieces)
    return Field(name, ENCRYPTED, value.tag, sealed)


def open_field(record_key: bytes, record_context: bytes, field: Field) -> Value:
    """What opens has exactly the tag that it is stored under."""
    pieces = (record_context, field.name.encode(), bytes([field.tag]))
    value = unpad_value(open_(record_key, field.stored, "sealed-field", *pieces))
    require(value.tag == field.tag, Reason.MALFORMED, "a value of another tag")
    check_sealable(value.tag)
    return value


@dataclass(frozen=True)
class FileKey:
    key: bytes
    size: int


def seal_descriptor(
    record_key: bytes, record_context: bytes, name: str, salt: bytes, file: FileKey, nonce: bytes
) -> bytes:
    plaintext = file.key + file.size.to_bytes(8, "little")
    return seal(record_key, plaintext, nonce, "file-key", record_context, name.encode(), salt)


def open_descriptor(record_key: bytes, record_context: bytes, name: str, commitment: Commitment) -> FileKey:
    pieces = (record_context, name.encode(), commitment.salt)
    plaintext = open_(record_key, commitment.descriptor, "file-key", *pieces)
    require(len(plaintext) == 40, Reason.MALFORMED, "a descriptor is a key and a size")
    file = FileKey(plaintext[:32], int.from_bytes(plaintext[32:], "little"))
    require(file.size <= limits.ASSET, Reason.LENGTH, "an asset larger than its limit")
    return file


@dataclass(frozen=True)
class Draft:
    """A record on its way: fields to seal, ready fields, and digests taken over from the predecessor."""

    statement: Statement
    to_seal: dict[str, Value]
    ready: dict[str, Field]
    carried: dict[str, bytes]
    names: tuple[str, ...]
    record_key: bytes | None  # the predecessor's, unless a fresh one is due


@dataclass(frozen=True)
class SealedRecord:
    statement: bytes
    hash: bytes
    fields: tuple[tuple[str, bytes, Field | None], ...]  # name, digest, the field unless carried


def seal_save(
    drafts: Sequence[Draft], context: EpochContext, key: bytes, signing_seed: bytes, random: bytes
) -> tuple[list[SealedRecord], bytes]:
    """One save, drawing in the order that R-SEAL-6 gives: nonces, then key and salt record by record."""
    require(0 < len(drafts) <= limits.STATEMENTS, Reason.LENGTH, "a save of no or too many records")
    for draft in drafts:
        require(draft.statement.epoch_context == context, Reason.CONTEXT, "another epoch's statement")
    needed = 16 + 48 * len(drafts)
    if len(random) < needed:
        raise AssertionError("too little random for the save")
    nonces = Nonces(random[:16])
    draws = [random[16 + 48 * i : 64 + 48 * i] for i in range(len(drafts))]
    records = [_seal_record(draft, key, draw, nonces) for draft, draw in zip(drafts, draws, strict=True)]
    root = tree.root([record.hash for record in records], tree.statement_node)
    return records, tree.sign_root(signing_seed, root, len(records))


def _seal_record(draft: Draft, epoch_key: bytes, draw: bytes, nonces: Nonces) -> SealedRecord:
    statement = draft.statement
    if statement.key_carried:
        sealed = [field for field in draft.ready.values() if field.class_ == ASSET_CLASS]
        unsealed = draft.record_key is not None and not draft.to_seal and not sealed
        require(unsealed, Reason.MISSING_KEY, "something new under a key that was carried over")
    record_key = draft.record_key or draw[:32]
    fields: list[tuple[str, bytes, Field | None]] = []
    for name in draft.names:
        field: Field | None
        if name in draft.to_seal:
            field = seal_field(record_key, statement.record_context, name, draft.to_seal[name], nonces.next())
        else:
            field = draft.ready.get(name)
        fields.append((name, field.digest if field else draft.carried[name], field))
    is_save = statement.kind == SAVE
    wrapped = wrap_record_key(epoch_key, statement, record_key, nonces.next()) if is_save else b""
    require(is_save or not fields, Reason.MALFORMED, "a deletion with fields")
    digest = fields_digest([(name, field_digest) for name, field_digest, _ in fields]) if is_save else NOTHING_TAKEN
    data = replace(statement, wrapped_key=wrapped, salt=draw[32:], fields=digest).encode()
    Statement.decode(data)  # what we sign, others can read
    return SealedRecord(data, statement_hash(data), tuple(fields))
