"""Rosters, "Entry": roster entries and the epochs that they open. Their changes are in `changes.py`."""

from __future__ import annotations

from dataclasses import dataclass

from . import limits
from .changes import Change, read_change
from .codec import Reader, Writer, check_canonical, strictly_ascending
from .errors import Reason, require
from .notation import hash_

# Whom a grant is for: a member, or the holder of an invitation's or the public seat's URL.
MEMBER, SEAT = 1, 2


@dataclass(frozen=True)
class Epoch:
    """An epoch as an entry opens it: whom it covers, and what each one's grant hashes to."""

    number: int
    key_id: bytes
    checkpoint: bytes  # signed with the rest; no rule looks at it
    previous_key: bytes
    coverage: tuple[tuple[int, bytes, bytes], ...]  # kind, id, grant hash

    @property
    def grant_hashes(self) -> dict[tuple[int, bytes], bytes]:
        return {(kind, identifier): digest for kind, identifier, digest in self.coverage}

    @staticmethod
    def read(reader: Reader) -> Epoch:
        number, key_id, checkpoint = reader.u32(), reader.digest(), reader.digest()
        previous_key = reader.blob(limits.WRAPPED_KEY)
        expected = 0 if number == 0 else limits.WRAPPED_KEY
        require(len(previous_key) == expected, Reason.LENGTH, "a previous key of another length")
        coverage = tuple(
            (reader.choice((MEMBER, SEAT), "subject kind"), reader.id(), reader.digest())
            for _ in range(reader.u16())
        )
        require(strictly_ascending(c[:2] for c in coverage), Reason.MALFORMED, "coverage out of order")
        return Epoch(number, key_id, checkpoint, previous_key, coverage)

    def write(self, writer: Writer) -> None:
        writer.u32(self.number).digest(self.key_id).digest(self.checkpoint)
        writer.blob(self.previous_key).u16(len(self.coverage))
        for kind, identifier, digest in self.coverage:
            writer.u8(kind).id(identifier).digest(digest)


@dataclass(frozen=True)
class Entry:
    scope_id: bytes
    sequence: int
    previous: bytes
    author: bytes
    time: int
    changes: tuple[Change, ...]
    epoch: Epoch | None

    def encode(self) -> bytes:
        writer = Writer().digest(self.scope_id).u64(self.sequence).digest(self.previous)
        writer.id(self.author).i64(self.time).u16(len(self.changes))
        for change in self.changes:
            change.write(writer.u8(change.TAG))
        return writer.optional(self.epoch, lambda epoch: epoch.write(writer)).data

    @staticmethod
    def decode(data: bytes) -> Entry:
        require(len(data) <= limits.ENTRY, Reason.LENGTH, "an entry longer than its limit")
        reader = Reader(data)
        scope_id, sequence, previous = reader.digest(), reader.u64(), reader.digest()
        author, time = reader.id(), reader.i64()
        count = reader.u16()
        require(count <= limits.CHANGES, Reason.LENGTH, "more changes than the limit")
        changes = tuple(read_change(reader) for _ in range(count))
        epoch = reader.optional(lambda: Epoch.read(reader))
        reader.end()
        entry = Entry(scope_id, sequence, previous, author, time, changes, epoch)
        check_canonical(data, entry.encode())
        return entry


def entry_hash(data: bytes) -> bytes:
    return hash_("roster-hash", data)
