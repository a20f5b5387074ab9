"""statement-tree.json, statements.json, records.json, assets.json."""

from __future__ import annotations

from .. import assets, epochs, tree
from ..errors import Disagreement, Reason, require
from ..fields import ASSET_CLASS, ENCRYPTED, Commitment, Field, plain
from ..identity import signing_seed
from ..reading import verify_statement
from ..registry import Case, check
from ..roster import Roster
from ..sealing import Draft, SealedRecord, open_descriptor, open_field, seal_save, unwrap_record_key
from ..statements import Statement, statement_hash
from ..valuejson import value_json
from ..values import ASSET
from ..vectorfile import Fields
from .common import context_of, proof_of, roster_of, statement_of, value_of


@check("statement-tree", "Path")
def path(case: Case) -> None:
    fields, shared = case.fields, case.shared
    leaves, index, count = shared.hexes("leaves"), fields.small("index"), fields.small("leafCount")
    # An index past the end has no leaf; the proof's shape is refused before the leaf matters.
    leaf = leaves[index] if index < len(leaves) else leaves[0]
    siblings = fields.hexes("path")
    root = tree.root_of_path(leaf, index, count, siblings)
    tree.verify_root(shared.hex("publicKey"), shared.hex("signature"), root, count)
    shared.expect("root", root)
    shared.expect("root", tree.root(leaves, tree.statement_node))
    if count != len(leaves) or siblings != tree.path(leaves, index, tree.statement_node):
        raise Disagreement("another path than the leaves'")


@check("statements", "Coding")
def coding(case: Case) -> None:
    fields = case.fields
    encoded = fields.hex("encoded")
    statement = Statement.decode(encoded)
    if statement != statement_of(fields.child("statement")):
        raise Disagreement("decodes to another statement")
    fields.expect("encoded", statement_of(fields.child("statement")).encode())
    fields.expect("hash", statement_hash(encoded))


@check("statements", "Verification")
def verification(case: Case) -> None:
    fields = case.fields
    roster = roster_of(case.shared)
    verify_statement(fields.hex("encoded"), proof_of(fields.child("proof")), fields.text("recordName"), roster)


def _draft(fields: Fields) -> Draft:
    statement = statement_of(fields.child("statement"))
    if statement.wrapped_key or any(statement.salt) or any(statement.fields):
        raise Disagreement("a draft's statement with what sealing gives it")
    draft = Draft(statement, {}, {}, {}, (), fields.hex("recordKey") if "recordKey" in fields else None)
    names = []
    for field in fields.children("fields"):
        name, kind = field.text("name"), field.text("field")
        names.append(name)
        if kind == "encrypted":
            draft.to_seal[name] = value_of(field.child("value"))
        elif kind == "plain":
            draft.ready[name] = plain(name, value_of(field.child("value")))
        elif kind == "carried":
            draft.carried[name] = field.hex("digest")
        else:
            raise Disagreement(f"a draft's field of an unknown kind: {kind!r}")
    return Draft(statement, draft.to_seal, draft.ready, draft.carried, tuple(names), draft.record_key)


def _expect_record(expected: Fields, record: SealedRecord) -> None:
    expected.expect("statement", record.statement)
    expected.expect("hash", record.hash)
    fields = expected.children("fields")
    if len(fields) != len(record.fields):
        raise Disagreement("another number of fields")
    for given, (name, digest, field) in zip(fields, record.fields, strict=True):
        given.expect("name", name)
        given.expect("digest", digest)
        if field is not None and field.class_ == ENCRYPTED:
            given.expect("sealed", field.stored)
            given.expect("type", field.tag)


@check("records", "Seal")
def seal(case: Case) -> None:
    fields = case.fields
    seed = signing_seed(fields.hex("seed"), fields.text("container"))
    drafts = [_draft(draft) for draft in fields.children("drafts")]
    context = context_of(fields.child("context"))
    records, signature = seal_save(drafts, context, fields.hex("key"), seed, fields.hex("random"))
    expected = fields.children("records")
    if len(expected) != len(records):
        raise Disagreement("another number of records")
    for given, record in zip(expected, records, strict=True):
        _expect_record(given, record)
    fields.expect("signature", signature)


def _record_key(fields: Fields, roster: Roster) -> tuple[Statement, bytes]:
    """The record key of a test's verified statement."""
    data = fields.hex("statement")
    record = Statement.decode(data).record  # the test asks for the statement's own record
    statement = verify_statement(data, proof_of(fields.child("proof")), record, roster)
    context, key = context_of(fields.child("context")), fields.hex("key")
    require(statement.epoch_context == context, Reason.MISSING_KEY, "no key of the statement's epoch")
    return statement, unwrap_record_key(key, statement)


@check("records", "Open")
def open_(case: Case) -> None:
    fields, roster = case.fields, roster_of(case.shared)
    statement, record_key = _record_key(fields, roster)
    field = Field(fields.text("name"), ENCRYPTED, fields.small("type"), fields.hex("sealed"))
    value = open_field(record_key, statement.record_context, field)
    context = statement.epoch_context
    epochs.check_key(context, fields.hex("key"), roster.epoch(context.life, context.epoch).key_id)
    fields.expect("value", value_json(value))


@check("records", "Asset")
def asset(case: Case) -> None:
    fields, roster = case.fields, roster_of(case.shared)
    statement, record_key = _record_key(fields, roster)
    given = fields.child("commitment")
    commitment = Commitment(given.hex("salt"), given.number("chunkCount"), given.hex("root"), given.hex("descriptor"))
    file = open_descriptor(record_key, statement.record_context, fields.text("name"), commitment)
    assets.check_chunk_count(file.size, commitment)
    fields.expect("digest", Field(fields.text("name"), ASSET_CLASS, ASSET, commitment.encode()).digest)
    fields.expect("fileKey", file.key)
    fields.expect("size", file.size)
    if Commitment.decode(commitment.encode()) != commitment:
        raise Disagreement("encodes to another commitment")
    context = statement.epoch_context
    epochs.check_key(context, fields.hex("key"), roster.epoch(context.life, context.epoch).key_id)


@check("assets", "Layout")
def layout(case: Case) -> None:
    found = assets.Layout(case.fields.number("size"))
    case.fields.expect("paddedSize", found.padded_size)
    case.fields.expect("chunkCount", found.chunk_count)
    case.fields.expect("sealedBytes", found.sealed_bytes)
    case.fields.expect("blobBytes", found.blob_bytes)


def _chunk_place(fields: Fields) -> tuple[bytes, assets.Layout, int]:
    key = assets.chunk_key(fields.hex("fileKey"), fields.hex("salt"))
    return key, assets.Layout(fields.number("size")), fields.small("chunk")


@check("assets", "Chunk")
def chunk(case: Case) -> None:
    fields = case.fields
    if "plaintext" in fields:
        plaintext = fields.hex("plaintext")
    else:
        plaintext = bytes([fields.small("byte")]) * fields.small("count")
    key, place, number = _chunk_place(fields)
    sealed = assets.seal_chunk(key, place, number, plaintext)
    if assets.open_chunk(key, place, number, sealed) != plaintext:
        raise Disagreement("does not open to what was sealed")
    outputs = [name for name in ("sealed", "leaf") if name in fields]
    if not outputs:
        raise Disagreement("nothing to compare with")
    if "sealed" in fields:
        fields.expect("sealed", sealed)
    if "leaf" in fields:
        fields.expect("leaf", assets.leaf_hash(sealed))


@check("assets", "Open")
def open_chunk(case: Case) -> None:
    key, place, number = _chunk_place(case.fields)
    plaintext = assets.open_chunk(key, place, number, case.fields.hex("sealed"))
    case.fields.expect("plaintext", plaintext)


@check("assets", "Tree")
def leaves(case: Case) -> None:
    case.fields.expect("root", assets.root(case.fields.hexes("leaves")))
