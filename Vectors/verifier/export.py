"""`--export`: opens real data that SealKit exported, with nothing of SealKit's.

Everything is verified before anything is printed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from . import assets, deletions, epochs
from .codec import user_record_name
from .entries import MEMBER
from .errors import Reason, Refused, crash, present, require
from .exportfile import Export, Grant, Notice, Part, Record, Signed, asset_path, read_export
from .exportpublic import open_public
from .exportshares import Lines, Rosters, show_shares
from .fields import ASSET_CLASS, ENCRYPTED, PLAIN, Commitment, Field, check_fields
from .identity import grant_seed, signing_seed
from .identity import VerifiedChain
from .identity import user_id as self_certified_id
from .keyfile import read_seeds
from .notation import public_signing_key
from .reading import check_distinct, verify_statement
from .roster import Roster
from .scope import Life
from .sealing import open_descriptor, open_field, unwrap_record_key
from .statements import DELETE, KINDS, Statement, statement_hash
from .strictjson import line
from .valuejson import value_json
from .values import Value, decode_value
from .xwing import public_key

Keys = dict[tuple[bytes, Life, int], bytes]

_CLASSES = {PLAIN: "plain", ENCRYPTED: "encrypted", ASSET_CLASS: "asset"}


def run_export(folder: Path, key_file: Path | None, url: str | None) -> int:
    """Prints what the export holds, a JSON line each; or why it is refused. The process's exit code."""
    try:
        export = read_export(folder)
        if export.is_public:
            require(url is None, Reason.URL, "the public database is not shared by URL")
            lines = open_public(export)
        else:
            needed = present(key_file, Reason.EXPORT, "a zone's export opens with the account's key file: --key-file")
            lines = open_export(export, read_seeds(needed), url)
    except Refused as refusal:
        print(f"refused: {refusal}", file=sys.stderr)
        return 1
    except Exception as error:  # a crash is no refusal, and its message could hold a secret
        print(crash(error), file=sys.stderr)
        return 3
    for one in lines:
        print(line(one))
    return 0


def open_export(export: Export, seeds: list[bytes], url: str | None) -> Lines:
    require(not export.authors, Reason.EXPORT, "authors that a roster does not name")
    lines: Lines = []
    rosters: Rosters = {}
    keys: Keys = {}
    for part in export.parts:
        roster = replay(part)
        rosters[roster.scope_id] = roster
        lines.append({
            "scopeID": roster.scope_id.hex(),
            "shareRecordName": part.scope.share_record,
            "entries": len(roster.steps),
            "head": roster.head.hex(),
            "members": sorted(user_record_name(user) for user in roster.state.members),
            "openInvitations": sorted(identifier.hex() for identifier in roster.state.invitations),
        })
        check_membership(export, roster, seeds)
        keys |= open_keys(export, part, roster, seeds, lines)
    # Every statement first ("Steps of reading", 1 to 6), then what the statements protect (step 8).
    is_owner = export.user == export.scope.owner
    verified = [(record, verify_record(record, rosters, is_owner)) for record in export.records]
    gone = [verify_notice(notice, rosters, is_owner) for notice in export.notices]
    check_distinct([statement.record for _, statement in verified] + [record.record for record, _ in gone])
    check_targets([statement for _, statement in verified], [target for _, target in gone])
    opened: set[tuple[str, str]] = set()
    for record, statement in verified:
        lines += show_record(export, record, statement, keys, opened)
    require(opened == set(export.assets), Reason.EXPORT, "an asset that no record has")
    lines += [show_gone(record, target) for record, target in gone]
    lines += show_shares(export, rosters, url)
    lines.append({"records": len(verified), "gone": len(gone), "assets": len(opened), "agrees": True})
    return lines


def replay(part: Part) -> Roster:
    """By "Rules", from entry 0."""
    roster = Roster(part.scope)
    for data, signature in part.roster:
        roster.append(data, signature)
    return roster


def check_membership(export: Export, roster: Roster, seeds: list[bytes]) -> None:
    """The user is who the seeds say, and a member under the keys that the seeds give ("Account seed and keys")."""
    container = export.scope.container
    first = public_signing_key(signing_seed(seeds[0], container))
    require(self_certified_id(container, first) == export.user, Reason.IDENTITY, "the key file is another account's")
    chain = chain_of(export, roster)
    generations = len(chain.generations)
    require(generations <= len(seeds), Reason.IDENTITY, "the roster knows a newer generation than the key file")
    seed = seeds[generations - 1]
    keys = public_signing_key(signing_seed(seed, container)), public_key(grant_seed(seed, container))
    expected = chain.signing_key, chain.grant_key
    require(keys == expected, Reason.IDENTITY, "the roster's keys are not the key file's")


def chain_of(export: Export, roster: Roster) -> VerifiedChain:
    """A member's. A share that has ended has none, and its owner keeps what was in it."""
    state = roster.state
    ended = not state.is_open and roster.scope.share_record != "" and export.user == export.scope.owner
    if ended:
        return present(state.chains.get(export.user), Reason.NOT_PERMITTED, "the user never was in it")
    return present(state.members.get(export.user), Reason.NOT_PERMITTED, "the user is no member").chain


def open_keys(export: Export, part: Part, roster: Roster, seeds: list[bytes], lines: Lines) -> Keys:
    """Opens the grants, and walks the previous keys from them ("Epoch keys")."""
    lives: dict[Life, dict[int, bytes]] = {}
    for grant in part.grants:
        key = open_grant(export, roster, seeds, grant, lines)
        if key is not None:
            lives.setdefault(grant.life, {})[grant.epoch] = key
    in_force = present(roster.state.epoch, Reason.MISSING_KEY, "no epoch is in force")
    have_newest = any((g.life, g.epoch) == (roster.state.life, in_force.number) for g in part.grants)
    require(have_newest or not roster.state.is_open, Reason.MISSING_KEY, "no grant for the epoch in force")
    for life, keys in lives.items():
        lines += [{"warning": problem} for problem in epochs.walk_previous_keys(roster, life, keys)]
    return {(roster.scope_id, life, number): key for life, keys in lives.items() for number, key in keys.items()}


def open_grant(export: Export, roster: Roster, seeds: list[bytes], grant: Grant, lines: Lines) -> bytes | None:
    """A grant's key. One that is what its epoch's author committed to, but does not open, leaves that epoch
    without a key and nothing else; one that is not what the author committed to is refused."""
    committed = roster.epoch(grant.life, grant.epoch).grant_hashes.get((MEMBER, export.user))
    if committed is not None:
        same = epochs.grant_hash(grant.sealed) == committed
        require(same, Reason.KEY_MISMATCH, "not the grant that the roster commits to")
    else:
        require(_joined_under(export, roster, grant), Reason.NOT_PERMITTED, "a grant of an epoch without the user")
    for seed in reversed(seeds):  # older epochs' grants are sealed to older generations
        try:
            return epochs.open_member_grant(roster, grant.life, grant.epoch, export.user, seed, grant.sealed)
        except Refused:
            continue
    # After accepting, the user sealed it to itself: nobody else is to blame.
    require(committed is not None, Reason.AUTHENTICATION, "the user's own grant does not open")
    lines.append({"warning": f"epoch {grant.epoch}: its author's grant does not open"})
    return None


def _joined_under(export: Export, roster: Roster, grant: Grant) -> bool:
    """Whether the user accepted an invitation while an epoch was in force, and so sealed a grant to itself."""
    return any(
        step.state.life == grant.life
        and step.state.epoch is not None
        and step.state.epoch.number == grant.epoch
        and export.user in step.state.members
        for step in roster.steps
    )


def verify_record(record: Record, rosters: Rosters, is_owner: bool) -> Statement:
    """The export has no feed behind it: of step 7 there is only that a record shows once."""
    statement = verify_signed(record.signed, rosters, is_owner)
    if statement.kind == DELETE:
        require(not record.fields, Reason.FIELDS, "a deletion has no fields")
    else:
        check_fields(record.fields, statement.fields)
    return statement


def verify_signed(signed: Signed, rosters: Rosters, is_owner: bool) -> Statement:
    """Steps 1 to 5, in the scope that the statement names. What was asked for is what the export shows, under the
    statement's own name."""
    named = Statement.decode(signed.statement)
    roster = present(rosters.get(named.scope_id), Reason.CONTEXT, "a statement of a scope that is not in the export")
    return verify_statement(signed.statement, signed.proof, named.record, roster, carrying_over=is_owner)


def verify_notice(notice: Notice, rosters: Rosters, is_owner: bool) -> tuple[Statement, Statement]:
    """A record that went with the target of its reference, and the target's deletion ("Derived
    deletions")."""
    gone = verify_signed(notice.record, rosters, is_owner)
    deletion = verify_signed(notice.tombstone, rosters, is_owner)
    scope = present(rosters.get(gone.scope_id), Reason.CONTEXT, "a statement of a scope that is not in the export").scope
    deletions.check_notice(gone, statement_hash(notice.record.statement), deletion, notice.leaf, scope)
    return gone, deletion


def check_targets(records: list[Statement], targets: list[Statement]) -> None:
    """Where the export has a target's newest statement, it is the deletion or came after it."""
    newest = {statement.record: statement for statement in records}
    for deletion in targets:
        shown = newest.get(deletion.record)
        same = shown is None or shown.revision > deletion.revision or shown == deletion
        require(same, Reason.STALE, "a target that is older than its deletion, or another")


def show_gone(record: Statement, target: Statement) -> dict[str, object]:
    return {
        "record": record.record,
        "type": record.type,
        "statement": "gone",
        "with": target.record,
        "revision": record.revision,
        "creator": user_record_name(record.creator),
        "author": user_record_name(target.author),
    }


def show_record(
    export: Export, record: Record, statement: Statement, keys: Keys, opened: set[tuple[str, str]]
) -> Lines:
    lines: Lines = [{
        "record": statement.record,
        "type": statement.type,
        "statement": KINDS[statement.kind],
        "revision": statement.revision,
        "creator": user_record_name(statement.creator),
        "author": user_record_name(statement.author),
        "epoch": statement.epoch,
    }]
    if statement.kind == DELETE:
        return lines
    key = present(keys.get((statement.scope_id, statement.life, statement.epoch)), Reason.MISSING_KEY, "no key of a record's epoch")
    record_key = unwrap_record_key(key, statement)
    for field in record.fields:
        shown: dict[str, object] = {
            "record": statement.record, "field": field.name, "class": _CLASSES[field.class_]
        }
        if field.class_ == ASSET_CLASS:
            shown |= open_asset(export, statement, record_key, field)
            opened.add((statement.record, field.name))
        else:
            shown |= {"value": value_json(_value(statement, record_key, field))}
        lines.append(shown)
    return lines


def _value(statement: Statement, record_key: bytes, field: Field) -> Value:
    if field.class_ == PLAIN:
        return decode_value(field.stored)
    return open_field(record_key, statement.record_context, field)


def open_asset(export: Export, statement: Statement, record_key: bytes, field: Field) -> dict[str, object]:
    """"Assets". The bytes are hashed, not kept."""
    commitment = Commitment.decode(field.stored)
    file_key = open_descriptor(record_key, statement.record_context, field.name, commitment)
    file, path = asset_path(export, statement.record, field.name)
    with path.open("rb") as blob:
        size, digest = assets.digest_of(assets.open_blob(blob, file_key.key, file_key.size, commitment))
    return {"file": file, "size": size, "sha256": digest}
