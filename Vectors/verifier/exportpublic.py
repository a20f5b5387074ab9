"""`--export` of a public database's records (FILES.md, "Of the public database"): verified by their authors' chains, and nothing to open."""

from __future__ import annotations

from pathlib import Path

from . import assets, limits
from .codec import user_record_name
from .errors import Reason, present, require
from .exportfile import Export, Record, asset_path
from .fields import PLAIN, Field, PublicCommitment, check_fields
from .identity import VerifiedChain, verify_chain
from .reading import NOBODY, PUBLIC_ZONE, check_distinct, verify_public_statement
from .statements import DELETE, KINDS, Statement
from .valuejson import value_json
from .values import decode_value

Lines = list[dict[str, object]]


def open_public(export: Export) -> Lines:
    place = (export.user, export.scope.zone, export.scope.share_record)
    require(place == (NOBODY, PUBLIC_ZONE, ""), Reason.EXPORT, "not the public database")
    foreign = [piece for part in export.parts for piece in (*part.roster, *part.grants, *part.shares)]
    require(len(export.parts) == 1 and not foreign and not export.notices, Reason.EXPORT, "something of a zone in the public database")
    chains = [verify_chain(chain, export.scope.container) for chain in export.authors]
    authors = {chain.user: chain for chain in chains}
    require(len(authors) == len(chains), Reason.EXPORT, "an author twice")
    # Every statement first, as in a zone.
    verified = [(record, _verify(export, record, authors)) for record in export.records]
    check_distinct([statement.record for _, statement in verified])
    cited = {statement.author for _, statement in verified}
    require(cited == set(authors), Reason.EXPORT, "an author of no record")
    lines: Lines = [{"database": "public", "authors": sorted(user_record_name(user) for user in authors)}]
    shown: set[tuple[str, str]] = set()
    for record, statement in verified:
        lines.append({
            "record": statement.record,
            "type": statement.type,
            "statement": KINDS[statement.kind],
            "revision": statement.revision,
            "creator": user_record_name(statement.creator),
            "author": user_record_name(statement.author),
        })
        lines += [_show(export, statement, field, shown) for field in record.fields]
    require(shown == set(export.assets), Reason.EXPORT, "an asset that no record has")
    lines.append({"records": len(verified), "assets": len(shown), "agrees": True})
    return lines


def _verify(export: Export, record: Record, authors: dict[bytes, VerifiedChain]) -> Statement:
    """R-PUB-1 to R-PUB-5."""
    data, scope = record.signed.statement, export.scope
    named = Statement.decode(data)
    author = present(authors.get(named.author), Reason.AUTHOR, "an author without an identity")
    statement = verify_public_statement(
        data, record.signed.proof, named.record, scope.container, scope.environment, author
    )
    if statement.kind == DELETE:
        require(not record.fields, Reason.FIELDS, "a deletion has no fields")
    else:
        check_fields(record.fields, statement.fields, public=True)
    return statement


def _show(export: Export, statement: Statement, field: Field, shown: set[tuple[str, str]]) -> dict[str, object]:
    line: dict[str, object] = {"record": statement.record, "field": field.name}
    if field.class_ == PLAIN:
        return line | {"class": "plain", "value": value_json(decode_value(field.stored))}
    shown.add((statement.record, field.name))
    file, path = asset_path(export, statement.record, field.name)
    return line | {"class": "asset", "file": file} | _check_asset(path, PublicCommitment.decode(field.stored))


def _check_asset(path: Path, commitment: PublicCommitment) -> dict[str, object]:
    """Assets of the public database: the leaves are those of the plain chunks."""
    layout = assets.PublicLayout(commitment.size)
    require(path.stat().st_size == commitment.size, Reason.LENGTH, "an asset of another size")
    with path.open("rb") as file:
        leaves = [assets.leaf_hash(file.read(limits.CHUNK)) for _ in range(layout.chunk_count)]
        require(assets.root(leaves) == commitment.root, Reason.PROOF, "not the asset that the record commits to")
        file.seek(0)
        size, digest = assets.digest_of(iter(lambda: file.read(limits.CHUNK), b""))
    return {"size": size, "sha256": digest}
