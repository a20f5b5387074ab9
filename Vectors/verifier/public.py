"""The public database: a save that nobody seals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from . import limits, tree
from .codec import ZERO_DIGEST
from .deletions import NOTHING_TAKEN
from .errors import Reason, require
from .fields import fields_digest
from .reading import NOBODY, PUBLIC_ZONE
from .statements import DELETE, Statement, statement_hash

SALT = 16


@dataclass(frozen=True)
class PublicDraft:
    """A statement without salt and fields' digest, and its fields' names and digests."""

    statement: Statement
    fields: tuple[tuple[str, bytes], ...]


def sign_save(drafts: Sequence[PublicDraft], signing_seed: bytes, random: bytes) -> tuple[list[bytes], bytes]:
    """The statements and their signature. What is drawn is each record's salt."""
    require(0 < len(drafts) <= limits.STATEMENTS, Reason.LENGTH, "a save of no or too many records")
    for draft in drafts:
        place = (draft.statement.owner, draft.statement.zone, draft.statement.scope_id)
        require(place == (NOBODY, PUBLIC_ZONE, ZERO_DIGEST), Reason.CONTEXT, "no record of the public database")
    if len(random) < SALT * len(drafts):
        raise AssertionError("too little random for the save")
    statements = []
    for number, draft in enumerate(drafts):
        salt = random[SALT * number : SALT * (number + 1)]
        deletes = draft.statement.kind == DELETE
        require(not deletes or not draft.fields, Reason.MALFORMED, "a deletion with fields")
        fields = NOTHING_TAKEN if deletes else fields_digest(draft.fields)
        data = replace(draft.statement, salt=salt, fields=fields).encode()
        Statement.decode(data)  # what we sign, others can read
        statements.append(data)
    root = tree.root([statement_hash(data) for data in statements], tree.statement_node)
    return statements, tree.sign_root(signing_seed, root, len(statements))
