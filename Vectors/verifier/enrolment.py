"""Accounts, "Enrolling a device"."""

from __future__ import annotations

from dataclasses import dataclass

from . import hpke, limits, xwing
from .accounts import login_seed
from .codec import Reader, Writer, strictly_ascending
from .errors import Reason, require
from .identity import check_grant_key
from .notation import hash_, public_signing_key
from .values import check_padding, pad

NONCE = 32


@dataclass(frozen=True)
class Opening:
    """What the new device committed to, and then shows."""

    key: bytes  # an X-Wing key made for this enrolment alone
    nonce: bytes


@dataclass(frozen=True)
class Answer:
    nonce: bytes
    login_key: bytes


def commitment(enrolment_id: bytes, opening: Opening) -> bytes:
    return hash_("enrolment/commitment", enrolment_id, opening.key, opening.nonce)


def check_opening(enrolment_id: bytes, committed: bytes, opening: Opening) -> None:
    """Message 3: the old device refuses what does not give the commitment."""
    require(len(opening.nonce) == NONCE, Reason.LENGTH, "a nonce of another length")
    check_grant_key(opening.key)
    require(commitment(enrolment_id, opening) == committed, Reason.KEY_MISMATCH, "not what was committed to")


def transcript(enrolment_id: bytes, committed: bytes, answer: Answer, opening: Opening) -> bytes:
    return hash_(
        "enrolment/transcript", enrolment_id, committed, answer.nonce, opening.key, opening.nonce, answer.login_key
    )


def code(of: bytes) -> str:
    """A transcript's six digits."""
    return f"{int.from_bytes(of[:8], 'little') % 1_000_000:06}"


@dataclass(frozen=True)
class RosterHead:
    scope_id: bytes
    sequence: int
    hash: bytes


@dataclass(frozen=True)
class Package:
    seeds: tuple[bytes, ...]  # oldest first
    heads: tuple[RosterHead, ...]

    def encode(self) -> bytes:
        writer = Writer().u16(len(self.seeds))
        for seed in self.seeds:
            writer.raw(seed, 32)
        writer.u32(len(self.heads))
        for head in self.heads:
            writer.digest(head.scope_id).u64(head.sequence).digest(head.hash)
        return pad(writer.data)

    @staticmethod
    def decode(plaintext: bytes) -> Package:
        reader = Reader(plaintext)
        generations = reader.u16()
        require(1 <= generations <= limits.GENERATIONS, Reason.LENGTH, "no seed, or too many")
        seeds = tuple(reader.raw(32) for _ in range(generations))
        count = reader.u32()
        require(count <= limits.HEADS, Reason.LENGTH, "more heads than the limit")
        require(72 * count <= reader.remaining, Reason.MALFORMED, "a count that the bytes cannot hold")
        heads = tuple(RosterHead(reader.digest(), reader.u64(), reader.digest()) for _ in range(count))
        require(strictly_ascending(head.scope_id for head in heads), Reason.MALFORMED, "heads out of order")
        check_padding(plaintext, reader.position)
        return Package(seeds, heads)


def open_package(seed: bytes, sealed: bytes, of: bytes, login_key: bytes) -> Package:
    """Message 4, opened with the enrolment key's seed; `of` is the transcript, which has the login key."""
    package = Package.decode(hpke.open_(seed, sealed, "enrolment/seeds", of))
    newest = public_signing_key(login_seed(package.seeds[-1]))
    require(newest == login_key, Reason.KEY_MISMATCH, "another account's seeds than the transcript's")
    return package


def key_of(seed: bytes) -> bytes:
    return xwing.public_key(seed)
