"""Placement: where a record belongs."""

from __future__ import annotations

from .scope import Scope
from .statements import DELETE, SHARE_TYPE, Statement


def in_place(statement: Statement, parent: Statement | None, scope: Scope, root: str | None) -> bool:
    """Whether a verified save stands where its scope says; `parent` is the newest verified statement of the
    record that it names as its parent, if there is one, `root` the record that `open` names."""
    if scope.share_record != "":
        is_share = statement.type == SHARE_TYPE and statement.record == scope.share_record
        if statement.record == root:
            return statement.share == scope.share_record
        if is_share or statement.record == scope.share_record:
            return is_share
        return statement.parent is not None and holds(statement, parent)
    return statement.parent is None or holds(statement, parent)


def holds(statement: Statement, parent: Statement | None) -> bool:
    """Whether a parent is there, not deleted, and in the same scope and incarnation."""
    if parent is None or parent.kind == DELETE or parent.record != statement.parent:
        return False
    return parent.zone_place == statement.zone_place and parent.place == statement.place


def cycles(records: list[Statement]) -> list[list[str]]:
    """The records of one answer that are their own ancestors: each circle from its least name on to that one's parent."""
    parents = {record.record: record.parent for record in records}
    found: list[list[str]] = []
    for name in sorted(parents):
        circle = [name]
        while (above := parents.get(circle[-1])) is not None and above != name and len(circle) <= len(parents):
            circle.append(above)
        if above == name and name == min(circle):
            found.append(circle)
    return found
