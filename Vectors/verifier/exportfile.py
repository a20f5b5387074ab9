"""The raw export format: export.json, read strictly into what the protocol's modules take."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from . import strictjson
from .codec import ENVIRONMENTS, user_id
from .deletions import Leaf
from .errors import Disagreement, Reason, Refused, present, require
from .fields import Field
from .identity import SignedIdentity
from .reading import NOBODY, Proof
from .scope import Life, Scope
from .vectorfile import Fields

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
FORMAT = "sealkit-raw"
VERSION = 3
FILE = "export.json"


@dataclass(frozen=True)
class Grant:
    life: Life
    epoch: int
    sealed: bytes


@dataclass(frozen=True)
class Signed:
    """A statement and its proof."""

    statement: bytes
    proof: Proof


@dataclass(frozen=True)
class Record:
    signed: Signed
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Notice:
    """A record that went with another, and the deletion that covers it."""

    record: Signed
    tombstone: Signed
    leaf: Leaf


@dataclass(frozen=True)
class Share:
    routing_id: bytes
    preview: bytes | None


@dataclass(frozen=True)
class Part:
    """One scope of the zone: its own, or that of a hierarchical share in it."""

    scope: Scope
    roster: tuple[tuple[bytes, bytes], ...]  # entry, signature
    grants: tuple[Grant, ...]
    shares: tuple[Share, ...]


@dataclass(frozen=True)
class Export:
    folder: Path
    user: bytes
    scope: Scope  # the zone's own
    parts: tuple[Part, ...]
    records: tuple[Record, ...]
    notices: tuple[Notice, ...]
    assets: dict[tuple[str, str], str]  # record and field name: the file
    authors: tuple[tuple[SignedIdentity, ...], ...]  # of the public database

    @property
    def is_public(self) -> bool:
        return self.scope.owner == NOBODY


def read_export(folder: Path) -> Export:
    """Refuses an export that has not exactly the format's shape."""
    try:
        document = strictjson.parse((folder / FILE).read_bytes())
    except (OSError, strictjson.NotStrict):
        raise Refused(Reason.EXPORT, f"{FILE} cannot be read") from None
    require(type(document) is dict, Reason.EXPORT, f"{FILE} is no object")
    fields = Fields(document, f"{FILE}: ")
    try:
        export = _export(folder, fields)
    except Disagreement as disagreement:
        raise Refused(Reason.EXPORT, str(disagreement)) from None
    unknown = list(fields.unused())
    require(not unknown, Reason.EXPORT, "something unknown in the export")
    return export


def asset_path(export: Export, record: str, field: str) -> tuple[str, Path]:
    """The name of an asset's file, and where it is."""
    file = present(export.assets.get((record, field)), Reason.EXPORT, "an asset without its file")
    require(_FILE_NAME.match(file) is not None, Reason.EXPORT, "an asset's file lies in the export's folder")
    path = export.folder / file
    require(path.is_file() and not path.is_symlink(), Reason.EXPORT, "an asset's file is not there")
    return file, path


def _export(folder: Path, fields: Fields) -> Export:
    require(fields.text("format") == FORMAT, Reason.EXPORT, "not a raw export")
    require(fields.small("version") == VERSION, Reason.EXPORT, "an export of another version")
    environments = {name: number for number, name in ENVIRONMENTS.items()}
    environment = fields.text("environment")
    require(environment in environments, Reason.EXPORT, "an unknown environment")
    scope = Scope(
        container=fields.text("container"),
        environment=environments[environment],
        owner=user_id(fields.text("owner")),
        zone=fields.text("zoneName"),
        share_record=fields.text("shareRecordName"),
    )
    assets = [
        ((asset.text("record"), asset.text("field")), asset.text("file")) for asset in fields.children("assets")
    ]
    require(len(dict(assets)) == len(assets), Reason.EXPORT, "an asset twice")
    require(scope.share_record == "", Reason.EXPORT, "not the export of a zone")
    return Export(
        folder=folder,
        user=user_id(fields.text("user")),
        scope=scope,
        parts=_parts(fields, scope),
        records=tuple(_record(record) for record in fields.children("records")),
        notices=tuple(_notice(notice) for notice in fields.children("notices")),
        assets=dict(assets),
        authors=tuple(_chain(author) for author in fields.children("authors")),
    )


def _parts(fields: Fields, zone: Scope) -> tuple[Part, ...]:
    own = _part(fields, zone)
    shared = [
        _part(child, replace(zone, share_record=child.text("shareRecordName"))) for child in fields.children("hierarchies")
    ]
    names = [part.scope.share_record for part in shared]
    require("" not in names and len(set(names)) == len(names), Reason.EXPORT, "a hierarchy without a name, or twice")
    if own.roster or not shared:
        return (own, *shared)
    # Of somebody who takes part in hierarchies of the zone alone.
    require(not own.grants and not own.shares, Reason.EXPORT, "grants or shares without a roster")
    return tuple(shared)


def _part(fields: Fields, scope: Scope) -> Part:
    return Part(
        scope=scope,
        roster=tuple((e.hex("bytes"), e.hex("signature")) for e in fields.children("roster")),
        grants=tuple(_grant(grant) for grant in fields.children("grants")),
        shares=tuple(_share(share) for share in fields.children("shares")),
    )


def _grant(fields: Fields) -> Grant:
    life = Life(fields.small("zoneIncarnation"), fields.small("scopeIncarnation"))
    return Grant(life, fields.small("epoch"), fields.hex("sealed"))


def _signed(fields: Fields) -> Signed:
    path = tuple(fields.hexes("path"))
    proof = Proof(fields.hex("signature"), fields.small("leafCount"), fields.small("index"), path)
    return Signed(fields.hex("statement"), proof)


def _record(fields: Fields) -> Record:
    stored = tuple(
        Field(f.text("name"), f.small("class"), f.small("tag"), f.hex("stored")) for f in fields.children("fields")
    )
    return Record(_signed(fields), stored)


def _notice(fields: Fields) -> Notice:
    leaf = Leaf(fields.small("count"), fields.small("index"), tuple(fields.hexes("path")))
    return Notice(_signed(fields.child("record")), _signed(fields.child("tombstone")), leaf)


def _share(fields: Fields) -> Share:
    preview = None if fields.raw("preview") is None else fields.hex("preview")
    return Share(fields.hex("routingID"), preview)


def _chain(fields: Fields) -> tuple[SignedIdentity, ...]:
    return tuple(
        SignedIdentity(generation.hex("bytes"), generation.hex("signature"), generation.hex("previousSignature"))
        for generation in fields.children("generations")
    )
