"""Moving, and R-SEAL-2: a statement that carries every field over into another scope or epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .codec import ZERO_DIGEST
from .errors import Reason, present, require
from .fields import fields_digest
from .roster import Roster
from .scope import EpochContext
from .sealing import Draft, SealedRecord, seal_save, unwrap_record_key
from .statements import SAVE, Statement

Digests = Sequence[tuple[str, bytes]]


@dataclass(frozen=True)
class EpochKey:
    """An epoch's key and where it belongs."""

    context: EpochContext
    key: bytes


def carried_over(
    before: Statement, before_hash: bytes, fields: Digests, author: bytes, time: int, into: Roster, epoch: int
) -> Statement:
    """The successor that stays the same but for its place; without wrapped key and salt."""
    require(before.kind == SAVE, Reason.SUCCESSOR, "a deletion cannot be carried over")
    require(fields_digest(fields) == before.fields, Reason.FIELDS, "not all the fields")
    life = present(into.state.life, Reason.STALE_EPOCH, "a roster without a life")
    after = Statement(
        SAVE, before.container, before.environment, before.owner, before.zone, life.zone, before.record, before.type,
        before.creator, author, time, before.revision + 1, before_hash, into.scope_id, life.scope, epoch, None, b"", before.key_carried,
        into.steps[-1].entry.sequence, into.head, ZERO_DIGEST, before.parent, before.share, bytes(16), bytes(32),
    )
    stays = after.place == before.place and after.epoch == before.epoch
    return replace(after.leaving(before), key_carried=before.key_carried or not stays)


def rewrap(
    before: Statement, draft: Statement, fields: Digests, old: EpochKey, new: EpochKey, seed: bytes, random: bytes
) -> tuple[SealedRecord, bytes]:
    """Seals the draft that `carried_over` gives: the same record key, wrapped anew. With its signature."""
    require(before.epoch_context == old.context, Reason.MISSING_KEY, "no key of the record's epoch")
    record_key = unwrap_record_key(old.key, before)
    names = tuple(name for name, _ in fields)
    records, signature = seal_save(
        [Draft(draft, {}, {}, dict(fields), names, record_key)], new.context, new.key, seed, random
    )
    return records[0], signature
