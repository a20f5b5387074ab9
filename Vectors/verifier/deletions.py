"""Section 7, "Derived deletions": a record that goes with its `deleteSelf` target, which nobody signs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import limits
from .codec import strictly_ascending
from .errors import Reason, require
from .fields import fields_digest, plain
from .statements import DELETE, SAVE, Statement
from .values import REFERENCE, Reference, Value

DELETE_SELF = 1


@dataclass(frozen=True)
class Link:
    """A record on the way to the target: its newest statement, verified, and the field that refers on."""

    statement: Statement
    field: str
    value: Value
    others: tuple[tuple[str, bytes], ...]  # the other fields' names and digests


def refers(value: Value, record: str) -> bool:
    """Whether a reference, or a list with one, names a record with deleteSelf."""
    if value.kind != REFERENCE:
        return False
    payloads = value.payload if isinstance(value.payload, tuple) else (value.payload,)
    return Reference(record, DELETE_SELF) in payloads


def check_notice(
    chain: Sequence[Link], deletion: Statement, may_write: Callable[[Statement], bool]
) -> None:
    """Whether a notice holds. Every statement in it is verified already; `may_write` says whether the
    deletion's author may write in another statement's scope, by its roster at the notice's place in the feed."""
    require(1 <= len(chain) <= limits.DERIVED, Reason.LENGTH, "no record that goes, or too many")
    require(deletion.kind == DELETE, Reason.DELETION, "the target was not deleted")
    nexts = [link.statement for link in chain[1:]] + [deletion]
    for link, following in zip(chain, nexts, strict=True):
        statement = link.statement
        require(statement.kind == SAVE, Reason.DELETION, "a record that was deleted itself")
        require(statement.zone_place == deletion.zone_place, Reason.DELETION, "another zone, or life of it")
        require(refers(link.value, following.record), Reason.DELETION, "a reference to another record")
        digest = plain(link.field, link.value).digest
        require(all(name != link.field for name, _ in link.others), Reason.FIELDS, "a field twice")
        pairs = sorted([*link.others, (link.field, digest)], key=lambda pair: pair[0].encode())
        require(fields_digest(pairs) == statement.fields, Reason.FIELDS, "not the fields that were signed")
        same = (statement.scope_id, statement.scope_incarnation) == (deletion.scope_id, deletion.scope_incarnation)
        later = not same or deletion.roster_sequence >= statement.roster_sequence
        require(later, Reason.DELETION, "a deletion that is older than the record")
        allowed = same or may_write(statement)
        require(allowed, Reason.AUTHOR, "the deletion's author may not write there")
    records = [link.statement.record for link in chain] + [deletion.record]
    require(len(set(records)) == len(records), Reason.DELETION, "a record twice")
    require(
        all(strictly_ascending(name.encode() for name, _ in link.others) for link in chain),
        Reason.MALFORMED, "fields out of order",
    )
