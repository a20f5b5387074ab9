"""moves.json, placement.json, deletions.json."""

from __future__ import annotations

from .. import deletions, epochs, limits, moving, placement, tree
from ..errors import Disagreement
from ..identity import signing_seed
from ..notation import le32, public_signing_key
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


@check("placement", "Cycles")
def cycles(case: Case) -> None:
    rosters = rosters_of(case.shared)
    records = [verified_of(record, rosters).statement for record in case.fields.children("records")]
    case.fields.expect("cycles", placement.cycles(records))


@check("deletions", "Taken")
def taken(case: Case) -> None:
    fields = case.fields
    if "many" in fields:
        records = [(f"Item-{number}", le32(number) + bytes(28)) for number in range(fields.small("many"))]
    else:
        records = [(record.text("name"), record.hex("hash")) for record in fields.children("records")]
    covered = deletions.Taken.of(records)
    fields.expect("digest", covered.digest)
    if "recordName" in fields:
        index = covered.names.index(fields.text("recordName"))
        path = list(fields.hexes("path"))
        if index != fields.small("index") or covered.path(index) != path:
            raise Disagreement("another path")
        leaf = covered.hashes[index]
        tree.root_of_path(leaf, index, len(covered.names), path, limits.TAKEN)


@check("deletions", "Along")
def along(case: Case) -> None:
    fields, rosters = case.fields, rosters_of(case.shared)
    target = verified_of(fields.child("target"), rosters)
    links, records = [], []
    for step in fields.children("records"):
        record = verified_of(step.child("record"), rosters)
        value = decode_value(step.hex("reference"))
        links.append(deletions.Link(record.statement, step.text("field"), value, digests_of(step, "otherFields")))
        records.append((record.statement.record, record.hash))
    deletions.check_along(links, target.statement, target.roster.scope, target.roster.root_record)
    fields.expect("digest", deletions.Taken.of(records).digest)


@check("deletions", "Notice")
def notice(case: Case) -> None:
    fields, rosters = case.fields, rosters_of(case.shared)
    gone = verified_of(fields.child("record"), rosters)
    tombstone = verified_of(fields.child("tombstone"), rosters)
    leaf = deletions.Leaf(fields.small("count"), fields.small("index"), tuple(fields.hexes("path")))
    deletions.check_notice(gone.statement, gone.hash, tombstone.statement, leaf, gone.roster.scope)
    fields.expect("recordName", gone.statement.record)
