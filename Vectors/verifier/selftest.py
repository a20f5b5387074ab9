"""Tests `--export` on an export made here: it opens, and with any one bit flipped it does not.

    python -m verifier.selftest          (in the folder of verify.py)
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import assets, epochs, hpke, links, tree
from .accounts import seal_password_box
from .changes import PER_RECORD, Accept, Change, Invite, Open, Settings
from .codec import READ_WRITE, ZERO_DIGEST, user_record_name
from .deletions import Taken
from .entries import MEMBER, SEAT, Entry, Epoch
from .errors import Refused
from .export import open_export
from .exportfile import FILE, VERSION, read_export
from .fields import ASSET_CLASS, Commitment, Field, fields_digest, plain
from .identity import SignedIdentity, grant_seed, sign_identity, signing_seed, verify_chain
from .keyfile import PASSPHRASE, read_seeds
from .links import base64url
from .notation import Nonces, sign
from .previews import Preview, seal_preview
from .roster import Roster
from .scope import EpochContext, Life, Scope
from .sealing import FileKey, seal_descriptor, seal_field, wrap_record_key
from .statements import DELETE, SAVE, Statement, statement_hash
from .values import DOUBLE, INT64, LIST, REFERENCE, STRING, Reference, Value
from .xwing import public_key

CONTAINER = "com.example.notes"
LIFE = Life(1, 1)
KEYS = [b"\x50" * 32, b"\x51" * 32]
LINK_SECRET, ROUTING_ID, INVITE_ID = b"\x77" * 32, b"\x33" * 16, b"\x01" * 16


@dataclass(frozen=True)
class Person:
    seed: bytes

    @property
    def identity(self) -> SignedIdentity:
        return sign_identity(self.seed, CONTAINER, 1_700_000_000_000_000)

    @property
    def id(self) -> bytes:
        return verify_chain((self.identity,), CONTAINER).user

    @property
    def signing_seed(self) -> bytes:
        return signing_seed(self.seed, CONTAINER)


OWNER, ALICE = Person(b"\x01" * 32), Person(b"\x02" * 32)


class Log:
    """A roster and its entries' bytes, as somebody writes it."""

    def __init__(self, scope: Scope) -> None:
        self.roster = Roster(scope)
        self.entries: list[tuple[bytes, bytes]] = []

    def write(self, author: Person, changes: tuple[Change, ...], epoch: Epoch | None = None) -> None:
        scope_id, head = self.roster.scope_id, self.roster.head
        data = Entry(scope_id, len(self.entries), head, author.id, 0, changes, epoch).encode()
        signed = (data, sign(author.signing_seed, "roster-entry", data))
        self.roster.append(*signed)
        self.entries.append(signed)


def _grant(context: EpochContext, key: bytes, kind: int, subject: bytes, to: bytes) -> bytes:
    pieces = epochs.grant_pieces(context, epochs.key_id(context, key), kind, subject)
    return hpke.seal(to, key, "grant", *pieces)


def _roster() -> tuple[Log, list[bytes]]:
    """The owner opens, shares and invites; Alice accepts; the owner rotates. Alice's two grants."""
    scope = Scope(CONTAINER, 2, OWNER.id, "Notes", "")
    log = Log(scope)
    context, later = (EpochContext(scope.id, LIFE, number) for number in (0, 1))
    to = {person: public_key(grant_seed(person.seed, CONTAINER)) for person in (OWNER, ALICE)}

    grant = _grant(context, KEYS[0], MEMBER, OWNER.id, to[OWNER])
    coverage = ((MEMBER, OWNER.id, epochs.grant_hash(grant)),)
    epoch = Epoch(0, epochs.key_id(context, KEYS[0]), ZERO_DIGEST, b"", coverage)
    log.write(OWNER, (Open(scope, LIFE, PER_RECORD, None, None, (OWNER.identity,)),), epoch)

    signing_key, grant_key = links.invitation_keys(LINK_SECRET, scope.id, INVITE_ID)
    sealed = _grant(context, KEYS[0], SEAT, INVITE_ID, grant_key)
    invite = Invite(INVITE_ID, READ_WRITE, None, signing_key, grant_key, epochs.grant_hash(sealed), 0, ())
    log.write(OWNER, (Settings(0, links.link_id(LINK_SECRET, scope.id), None), invite))

    chain = verify_chain((ALICE.identity,), CONTAINER)
    acceptance = sign(
        links.invitation_signing_seed(LINK_SECRET, scope.id, INVITE_ID),
        "acceptance",
        *links.acceptance_pieces(scope.id, INVITE_ID, chain, log.roster.head),
    )
    log.write(ALICE, (Accept(INVITE_ID, (ALICE.identity,), acceptance),))
    own = _grant(context, KEYS[0], MEMBER, ALICE.id, to[ALICE])

    grants = {person.id: _grant(later, KEYS[1], MEMBER, person.id, to[person]) for person in (OWNER, ALICE)}
    coverage_1 = tuple(sorted((MEMBER, user, epochs.grant_hash(sealed)) for user, sealed in grants.items()))
    previous = epochs.seal_previous_key(later, KEYS[1], KEYS[0], bytes(24))
    log.write(OWNER, (), Epoch(1, epochs.key_id(later, KEYS[1]), ZERO_DIGEST, previous, coverage_1))
    return log, [own, grants[ALICE.id]]


def _statement(log: Log, record: str, sequence: int, kind: int = SAVE) -> Statement:
    step = log.roster.steps[sequence]
    assert step.state.epoch is not None
    scope = log.roster.scope
    return Statement(
        kind, CONTAINER, scope.environment, scope.owner, scope.zone, LIFE.zone, record, "Note", ALICE.id, ALICE.id, 0,
        1, ZERO_DIGEST, log.roster.scope_id, LIFE.scope, step.state.epoch.number, None, b"", False, sequence,
        step.hash, ZERO_DIGEST, None, None, b"\x09" * 16, ZERO_DIGEST,
    )


def _records(log: Log, folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A save under each epoch, the second with an asset, and a deletion; and the notices of two records that went
    with what was deleted. In one tree."""
    record_key, nonces = b"\x61" * 32, Nonces(b"\x05" * 16)
    old, new, gone = _statement(log, "Old", 2), _statement(log, "New", 3), _statement(log, "Gone", 3, DELETE)
    child, grandchild = _statement(log, "Child", 2), _statement(log, "Grandchild", 3)
    up = {child: Value(REFERENCE, Reference("Gone", 1)), grandchild: Value(REFERENCE | LIST, (Reference("Child", 1),))}
    blob, chunk_count, root = assets.seal_blob(bytes(range(256)) * 600, b"\x70" * 32, b"\x71" * 32)
    (folder / "asset-0.blob").write_bytes(blob)
    file = FileKey(b"\x70" * 32, 256 * 600)
    photo = seal_descriptor(record_key, new.record_context, "photo", b"\x71" * 32, file, nonces.next())
    commitment = Commitment(b"\x71" * 32, chunk_count, root, photo).encode()
    texts = Value(STRING | LIST, ("a\x07b\x7f", "ä\u202e"))
    stored = {
        old: (seal_field(record_key, old.record_context, "body", Value(STRING, "Dear diary"), nonces.next()),),
        new: (
            plain("count", Value(INT64, 7)),
            Field("photo", ASSET_CLASS, 8, commitment),
            seal_field(record_key, new.record_context, "ratio", Value(DOUBLE, 0x3FF8000000000000), nonces.next()),
            seal_field(record_key, new.record_context, "tags", texts, nonces.next()),
        ),
        child: (plain("alpha", Value(INT64, 1)), plain("up", up[child]), plain("zeta", Value(INT64, 2))),
        grandchild: (plain("up", up[grandchild]),),
    }
    encoded = []
    for statement, fields in stored.items():
        key = KEYS[statement.epoch]
        wrapped = wrap_record_key(key, statement, record_key, nonces.next())
        digest = fields_digest([(field.name, field.digest) for field in fields])
        encoded.append((replace(statement, wrapped_key=wrapped, fields=digest).encode(), fields))
    taken = Taken.of([("Child", statement_hash(encoded[2][0])), ("Grandchild", statement_hash(encoded[3][0]))])
    encoded.insert(2, (replace(gone, fields=taken.digest).encode(), ()))
    leaves = [statement_hash(data) for data, _ in encoded]
    signature = tree.sign_root(ALICE.signing_seed, tree.root(leaves, tree.statement_node), len(leaves))
    signed = [
        {
            "statement": data.hex(),
            "signature": signature.hex(),
            "leafCount": len(leaves),
            "index": index,
            "path": [sibling.hex() for sibling in tree.path(leaves, index, tree.statement_node)],
        }
        for index, (data, _) in enumerate(encoded)
    ]
    records = [
        one | {"fields": [{"name": f.name, "class": f.class_, "tag": f.tag, "stored": f.stored.hex()} for f in fields]}
        for one, (_, fields) in zip(signed[:3], encoded[:3], strict=True)
    ]
    notices = [
        {
            "record": signed[3 + index],
            "tombstone": signed[2],
            "count": 2,
            "index": index,
            "path": [sibling.hex() for sibling in taken.path(index)],
        }
        for index in range(2)
    ]
    return records, notices


def _preview(log: Log) -> Preview:
    """Signed by the owner at the log's end."""
    unsigned = Preview(OWNER.id, len(log.entries) - 1, log.roster.head, 0, "Einkauf", "list", b"\x01", bytes(64))
    return replace(unsigned, signature=unsigned.signed_by(OWNER.signing_seed, log.roster.scope_id))


def make_export(folder: Path) -> str:
    """Writes an export of Alice's and its key file; the share's URL."""
    log, grants = _roster()
    scope = log.roster.scope
    preview = seal_preview(_preview(log), LINK_SECRET, scope.id, bytes(16))
    records, notices = _records(log, folder)
    document = {
        "format": "sealkit-raw",
        "version": VERSION,
        "user": user_record_name(ALICE.id),
        "container": CONTAINER,
        "environment": "production",
        "owner": user_record_name(scope.owner),
        "zoneName": scope.zone,
        "shareRecordName": "",
        "roster": [{"bytes": data.hex(), "signature": signature.hex()} for data, signature in log.entries],
        "grants": [
            {"epoch": number, "zoneIncarnation": 1, "scopeIncarnation": 1, "sealed": sealed.hex()}
            for number, sealed in enumerate(grants)
        ],
        "records": records,
        "notices": notices,
        "authors": [],
        "hierarchies": [],
        "assets": [{"record": "New", "field": "photo", "file": "asset-0.blob"}],
        "shares": [{"routingID": ROUTING_ID.hex(), "preview": preview.hex()}],
    }
    (folder / FILE).write_text(json.dumps(document, indent=1), encoding="utf-8")
    write_key_file(folder / "key.json", ALICE.seed, sealed=False)
    return str(links.ShareURL("https://notes.example.org", ROUTING_ID, LINK_SECRET, links.link_commitment(scope.id)))


def write_key_file(path: Path, seeds: bytes, sealed: bool) -> None:
    document = {"format": "sealkit-key-file", "version": 1, "server": "https://notes.example.org", "sealed": sealed}
    path.write_text(json.dumps(document | {"seeds": base64url(seeds)}), encoding="utf-8")


def _opens(folder: Path, url: str) -> bool:
    try:
        open_export(read_export(folder), read_seeds(folder / "key.json"), url)
    except Refused:
        return False
    return True


def _flip(folder: Path, name: str, url: str, positions: list[int]) -> int:
    """How many of the flips go unnoticed."""
    path = folder / name
    whole = path.read_bytes()
    unnoticed = 0
    for position in positions:
        altered = bytearray(whole)
        altered[position] ^= 1 << random.randrange(8)
        path.write_bytes(altered)
        if _opens(folder, url):
            unnoticed += 1
            print(f"unnoticed: {name} at {position}: {whole[max(0, position - 30):position + 10]!r}")
    path.write_bytes(whole)
    return unnoticed


def main() -> int:
    random.seed(1)
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        url = make_export(folder)
        failures += not _opens(folder, url)
        for name, count in ((FILE, 1_500), ("asset-0.blob", 150)):
            positions = random.sample(range((folder / name).stat().st_size), count)
            failures += _flip(folder, name, url, positions)
        for position in range(len(url)):  # every letter of the URL but the server's name
            other = "A" if url[position] != "A" else "B"
            if position not in range(len("https://"), url.index("/s/")):
                failures += _opens(folder, url[:position] + other + url[position + 1 :])

        write_key_file(folder / "key.json", OWNER.seed, sealed=False)
        failures += _opens(folder, url)
        write_key_file(folder / "key.json", seal_password_box(b"secret", ALICE.seed, 3, 262_144, bytes(32)), True)
        os.environ[PASSPHRASE] = "secret"
        failures += not _opens(folder, url)
        os.environ[PASSPHRASE] = "other"
        failures += _opens(folder, url)
    print(f"export self-test: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
