"""Scopes, and the epoch context of "Labels"."""

from __future__ import annotations

from dataclasses import dataclass

from .codec import checked_container, checked_name
from .notation import hash_, le32


@dataclass(frozen=True)
class Scope:
    """Who can share what: a zone, or a share within one."""

    container: str
    environment: int
    owner: bytes
    zone: str
    share_record: str  # empty for the zone's own scope

    def __post_init__(self) -> None:
        checked_container(self.container)
        checked_name(self.zone)
        if self.share_record:
            checked_name(self.share_record)

    @property
    def id(self) -> bytes:
        return hash_(
            "scope",
            self.container.encode(),
            bytes([self.environment]),
            self.owner,
            self.zone.encode(),
            self.share_record.encode(),
        )


@dataclass(frozen=True, order=True)
class Life:
    """The incarnations of a zone and of a scope, both counted from 1."""

    zone: int
    scope: int


@dataclass(frozen=True)
class EpochContext:
    """What every construction of an epoch is bound to."""

    scope_id: bytes
    life: Life
    epoch: int

    @property
    def pieces(self) -> tuple[bytes, bytes, bytes, bytes]:
        return self.scope_id, le32(self.life.zone), le32(self.life.scope), le32(self.epoch)
