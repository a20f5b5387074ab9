"""moves.json, placement.json, deletions.json."""

from __future__ import annotations

from .. import deletions, epochs, moving, placement, tree
from ..errors import Disagreement
from ..identity import signing_seed
from ..notation import public_signing_key
from ..reading import Proof, Seen, verify_statement
from ..registry import Case, check
from ..statements import Statement, check_later, check_successor, statement_hash
from ..values import decode_value
from ..vectorfile import Fields
from .common import context_of, digests_of, proof_of, roster_of, rosters_of, verified_of


@check("moves", "Successor")
def successor(case: Case) -> None:
    data, before = case.fields.hex("encoded"), case.fields.hex("predecessor")
    check_successor(Statement.decode(data), Statement.decode(before), statement_hash(before))
    seen = Seen()  # a reader's step 7 says the same
    for statement in (before, data, data):
        seen.take(statement)
    case.fields.expect("hash", statement_hash(data))


@check("moves", "Later")
def later(case: Case) -> None:
    data, seen = case.fields.hex("encoded"), case.fields.hex("seen")
    check_later(Statement.decode(data), Statement.decode(seen), statement_hash(seen))
    case.fields.expect("seenHash", statement_hash(seen))
    case.fields.expect("hash", statement_hash(data))


@check("moves", "Verification")
def verification(case: Case) -> None:
    fields = case.fields
    case.shared.text("state")  # for people
    migrating = bool(fields.raw("migrating"))
    proof = proof_of(fields.child("proof"))
    verify_statement(fields.hex("encoded"), proof, fields.text("recordName"), roster_of(case.shared), migrating)


def _epoch_key(fields: Fields, context: str, key: str) -> moving.EpochKey:
    return moving.EpochKey(context_of(fields.child(context)), fields.hex(key))


@check("moves", "Rewrap")
def rewrap(case: Case) -> None:
    fields, rosters = case.fields, rosters_of(case.shared)
    before = verified_of(fields.child("record"), rosters)
    into, scope = rosters[fields.text("into")], before.roster.scope
    seed = signing_seed(fields.hex("seed"), scope.container)
    author = [m for m in into.state.members.values() if m.chain.signing_key == public_signing_key(seed)]
    if len(author) != 1:
        raise Disagreement("the account is no member of the roster")
    old, new = _epoch_key(fields, "context", "key"), _epoch_key(fields, "newContext", "newKey")
    digests = digests_of(fields, "fields")
    draft = moving.carried_over(
        before.statement, before.hash, digests, author[0].chain.user, fields.number("clientTime"), into,
        new.context.epoch,
    )
    record, signature = moving.rewrap(before.statement, draft, digests, old, new, seed, fields.hex("random"))
    fields.expect("encoded", record.statement)
    fields.expect("signature", signature)
    # What was made, a reader takes, and the keys are those of the rosters.
    check_successor(Statement.decode(record.statement), before.statement, before.hash)
    verify_statement(record.statement, Proof(signature, 1, 0, ()), before.statement.record, into)
    tree.verify_root(author[0].chain.signing_key, signature, record.hash, 1)
    for roster, epoch in ((before.roster, old), (into, new)):
        committed = roster.epoch(epoch.context.life, epoch.context.epoch).key_id
        epochs.check_key(epoch.context, epoch.key, committed)


@check("placement", "Placement")
def in_place(case: Case) -> None:
    fields, rosters = case.fields, rosters_of(case.shared)
    record = verified_of(fields.child("record"), rosters)
    parent = verified_of(fields.child("parent"), rosters).statement if "parent" in fields else None
    roster = record.roster
    fields.expect("inPlace", placement.in_place(record.statement, parent, roster.scope, roster.root_record))


@check("deletions", "Notice")
def notice(case: Case) -> None:
    fields, rosters = case.fields, rosters_of(case.shared)
    tombstone = verified_of(fields.child("tombstone"), rosters)
    deletion = tombstone.statement
    present = {deletion.scope_id: tombstone.roster}
    chain = []
    for step in fields.children("steps"):
        record = verified_of(step.child("record"), rosters)
        present[record.statement.scope_id] = record.roster
        value = decode_value(step.hex("reference"))
        chain.append(deletions.Link(record.statement, step.text("field"), value, digests_of(step, "otherFields")))

    def may_write(statement: Statement) -> bool:
        member = present[statement.scope_id].state.members.get(deletion.author)
        return member is not None and member.may_write

    deletions.check_notice(chain, deletion, may_write)
    fields.expect("recordName", chain[0].statement.record)
