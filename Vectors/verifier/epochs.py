"""Epoch keys and grants."""

from __future__ import annotations

from . import hpke, limits
from .entries import MEMBER, SEAT
from .errors import Reason, Refused, present, require
from .identity import grant_seed
from .links import invitation_grant_seed
from .notation import hash_, open_, seal
from .roster import Roster
from .scope import EpochContext, Life
from .values import STRING, unpad_value


def key_id(context: EpochContext, key: bytes) -> bytes:
    return hash_("key-id", *context.pieces, key)


def check_key(context: EpochContext, key: bytes, expected: bytes) -> bytes:
    """Every key that is opened is checked against the keyID in the roster."""
    require(len(key) == 32, Reason.KEY_MISMATCH, "an epoch key has 32 bytes")
    require(key_id(context, key) == expected, Reason.KEY_MISMATCH, "not the key that the roster names")
    return key


def seal_previous_key(context: EpochContext, key: bytes, previous: bytes, nonce: bytes) -> bytes:
    return seal(key, previous, nonce, "previous-key", *context.pieces)


def open_previous_key(context: EpochContext, key: bytes, sealed: bytes) -> bytes:
    return open_(key, sealed, "previous-key", *context.pieces)


def grant_hash(sealed: bytes) -> bytes:
    return hash_("grant-hash", sealed)


def grant_pieces(context: EpochContext, epoch_key_id: bytes, kind: int, subject: bytes) -> tuple[bytes, ...]:
    return *context.pieces, epoch_key_id, bytes([kind]), subject


def _check_length(sealed: bytes) -> None:
    require(len(sealed) <= limits.GRANT, Reason.LENGTH, "a grant longer than its limit")


def open_member_grant(roster: Roster, life: Life, number: int, user: bytes, seed: bytes, sealed: bytes) -> bytes:
    """A member's grant, opened with an account seed; the key is the one that the roster names."""
    _check_length(sealed)
    context, epoch = roster.context(life, number), roster.epoch(life, number)
    pieces = grant_pieces(context, epoch.key_id, MEMBER, user)
    key = hpke.open_(grant_seed(seed, roster.scope.container), sealed, "grant", *pieces)
    return check_key(context, key, epoch.key_id)


def open_invitation_grant(
    roster: Roster, life: Life, number: int, invitation: bytes, link_secret: bytes, invitee: bytes | None, sealed: bytes
) -> bytes:
    """An invitation's grant; a known invitee's account seed takes off the outer layer first."""
    _check_length(sealed)
    context, epoch = roster.context(life, number), roster.epoch(life, number)
    pieces = grant_pieces(context, epoch.key_id, SEAT, invitation)
    if invitee is not None:
        sealed = hpke.open_(grant_seed(invitee, roster.scope.container), sealed, "grant-outer", *pieces)
    seed = invitation_grant_seed(link_secret, roster.scope_id, invitation)
    return check_key(context, hpke.open_(seed, sealed, "grant", *pieces), epoch.key_id)


def open_address(seed: bytes, scope_id: bytes, invitation: bytes, reader: bytes, sealed: bytes) -> str:
    """A look-up address, opened with the reader's X-Wing seed."""
    return _open_text(seed, sealed, "sealed-address", scope_id, invitation, reader)


def open_contact(seed: bytes, scope_id: bytes, request: bytes, owner: bytes, sealed: bytes) -> str:
    """What somebody who asks for access says of itself, opened with the owner's X-Wing seed."""
    return _open_text(seed, sealed, "sealed-contact", scope_id, request, owner)


def _open_text(seed: bytes, sealed: bytes, label: str, *pieces: bytes) -> str:
    require(len(sealed) <= limits.ADDRESS, Reason.LENGTH, "a sealed text longer than its limit")
    value = unpad_value(hpke.open_(seed, sealed, label, *pieces))
    text = value.payload if value.tag == STRING and isinstance(value.payload, str) else None
    return present(text, Reason.MALFORMED, "a sealed text is a string")


def walk_previous_keys(roster: Roster, life: Life, keys: dict[int, bytes]) -> list[str]:
    """Adds, to the keys of a life that are known, all that their previous keys lead to.

    A previous key is that of the epoch before, or, where its author did not have that one, of the newest
    below: the epochs are tried in turn, each against its keyID. One that leads nowhere is its author's
    fault and leaves epochs without a key, nothing else: what is wrong is returned, for people.
    """
    problems = []
    for number in range(max(keys, default=0), 0, -1):
        key = keys.get(number)
        if key is None:
            continue
        sealed = roster.epoch(life, number).previous_key
        try:
            previous = open_previous_key(roster.context(life, number), key, sealed)
        except Refused as refusal:
            problems.append(f"epoch {number}: {refusal}")
            continue
        below = next((n for n in range(number - 1, -1, -1) if _is_key(roster, life, n, previous)), None)
        if below is None:
            problems.append(f"epoch {number}: its previous key is no epoch's")
        else:
            keys[below] = previous
    return problems


def _is_key(roster: Roster, life: Life, number: int, key: bytes) -> bool:
    return len(key) == 32 and key_id(roster.context(life, number), key) == roster.epoch(life, number).key_id
