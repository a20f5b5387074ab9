""""Derived deletions": a record that goes with its `deleteSelf` target, whose deletion covers it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import limits, tree
from .codec import ZERO_DIGEST, strictly_ascending
from .errors import Reason, require
from .fields import fields_digest, plain
from .notation import hash_, le32
from .scope import Scope
from .statements import DELETE, SAVE, Statement
from .values import REFERENCE, Reference, Value

DELETE_SELF = 1


def _digest(root: bytes, count: int) -> bytes:
    return hash_("taken", root, le32(count))


NOTHING_TAKEN = _digest(ZERO_DIGEST, 0)


@dataclass(frozen=True)
class Taken:
    """What a deletion covers: records' names and the hashes of their newest statements, ascending by name."""

    names: tuple[str, ...]
    hashes: tuple[bytes, ...]

    @staticmethod
    def of(records: Sequence[tuple[str, bytes]]) -> Taken:
        require(len(records) <= limits.TAKEN, Reason.LENGTH, "too many records that go along")
        ordered = sorted(records, key=lambda record: record[0].encode())
        names = tuple(name for name, _ in ordered)
        require(strictly_ascending(name.encode() for name in names), Reason.DELETION, "a record twice")
        return Taken(names, tuple(digest for _, digest in ordered))

    @property
    def digest(self) -> bytes:
        """The deletion's `fields`."""
        root = tree.root(self.hashes, tree.statement_node) if self.hashes else ZERO_DIGEST
        return _digest(root, len(self.hashes))

    def path(self, index: int) -> list[bytes]:
        return tree.path(self.hashes, index, tree.statement_node)


@dataclass(frozen=True)
class Link:
    """A record that is said to go along: its newest statement, verified, and the field that refers on."""

    statement: Statement
    field: str
    value: Value
    others: tuple[tuple[str, bytes], ...]  # the other fields' names and digests


def refers(value: Value, records: set[str]) -> bool:
    """Whether a reference, or a list with one, names one of these records with deleteSelf."""
    if value.kind != REFERENCE:
        return False
    payloads = value.payload if isinstance(value.payload, tuple) else (value.payload,)
    return any(Reference(record, DELETE_SELF) in payloads for record in records)


def _life(statement: Statement) -> tuple[object, ...]:
    return *statement.zone_place, statement.scope_id, statement.scope_incarnation


def check_along(links: Sequence[Link], target: Statement, scope: Scope, root: str | None) -> None:
    """What whoever signs a deletion verifies of the records that are named to it, nearest to the target first.
    Every statement is verified already; `root` is the one of a share's scope."""
    require(len(links) <= limits.TAKEN, Reason.LENGTH, "too many records that go along")
    reached = {target.record}
    for link in links:
        statement = link.statement
        require(statement.kind == SAVE, Reason.DELETION, "a record that was deleted itself")
        require(_life(statement) == _life(target), Reason.DELETION, "another scope, or life of it")
        is_share = statement.is_share or statement.record == scope.share_record
        require(not is_share, Reason.DELETION, "the record of a share")
        require(root is None or statement.record != root, Reason.DELETION, "the root of a share")
        require(statement.record not in reached, Reason.DELETION, "a record twice, or the target")
        require(refers(link.value, reached), Reason.DELETION, "a reference to nothing that goes")
        digest = plain(link.field, link.value).digest
        require(all(name != link.field for name, _ in link.others), Reason.FIELDS, "a field twice")
        ascending = strictly_ascending(name.encode() for name, _ in link.others)
        require(ascending, Reason.MALFORMED, "fields out of order")
        pairs = sorted([*link.others, (link.field, digest)], key=lambda pair: pair[0].encode())
        require(fields_digest(pairs) == statement.fields, Reason.FIELDS, "not the fields that were signed")
        reached.add(statement.record)


@dataclass(frozen=True)
class Leaf:
    """Where a record stands in what a deletion covers."""

    count: int
    index: int
    path: tuple[bytes, ...]


def check_notice(gone: Statement, gone_hash: bytes, deletion: Statement, leaf: Leaf, scope: Scope) -> None:
    """Whether a notice holds. Both statements are verified already, in this scope."""
    require(deletion.kind == DELETE, Reason.DELETION, "the target was not deleted")
    require(gone.kind == SAVE, Reason.DELETION, "a record that was deleted itself")
    require(_life(gone) == _life(deletion), Reason.DELETION, "another scope, or life of it")
    require(gone.record != deletion.record, Reason.DELETION, "the target itself")
    is_share = gone.is_share or gone.record == scope.share_record
    require(not is_share, Reason.DELETION, "the record of a share")
    later = deletion.roster_sequence >= gone.roster_sequence
    require(later, Reason.DELETION, "a deletion that is older than the record")
    root = tree.root_of_path(gone_hash, leaf.index, leaf.count, leaf.path, limits.TAKEN)
    require(_digest(root, leaf.count) == deletion.fields, Reason.FIELDS, "not what the deletion covers")
