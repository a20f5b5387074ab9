"""Accounts: login, storage boxes, password boxes, recovery keys."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from functools import cache

import nacl.bindings as sodium

from . import limits
from .errors import MistypedRecoveryKey, Reason, require
from .notation import Nonces, hash_, kdf, le32, open_, seal

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", re.ASCII)
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
GROUPS = 13
_HEADER = 24


def request_time(date: str) -> int:
    """Microseconds since 1970 of a signed request's date, which has one form."""
    require(_DATE.fullmatch(date) is not None, Reason.MALFORMED, "a date in another form")
    try:
        moment = datetime.strptime(date, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        moment = None
    require(moment is not None, Reason.MALFORMED, "a day that there is not")
    assert moment is not None
    return int(moment.timestamp()) * 1_000_000


def login_seed(seed: bytes) -> bytes:
    return kdf(seed, "account/login", b"")


def storage_key(seed: bytes) -> bytes:
    return kdf(seed, "account/storage", b"")


def seal_storage(key: bytes, secret: bytes, purpose: str, context: bytes, random: bytes) -> bytes:
    return seal(key, secret, Nonces(random).next(), "storage-box", purpose.encode(), context)


def open_storage(key: bytes, sealed: bytes, purpose: str, context: bytes) -> bytes:
    return open_(key, sealed, "storage-box", purpose.encode(), context)


@cache
def _argon2id(password: bytes, salt: bytes, passes: int, kibibytes: int) -> bytes:
    return bytes(sodium.crypto_pwhash_alg(
        32, password, salt, passes, kibibytes * 1024, sodium.crypto_pwhash_ALG_ARGON2ID13
    ))


def _password_key(password: bytes, header: bytes) -> bytes:
    """Parameters outside the limits are refused before anything is derived."""
    passes = int.from_bytes(header[:4], "little")
    kibibytes = int.from_bytes(header[4:8], "little")
    require(passes in limits.ARGON2_PASSES, Reason.PARAMETERS, "passes outside the limits")
    require(kibibytes in limits.ARGON2_KIBIBYTES, Reason.PARAMETERS, "memory outside the limits")
    return _argon2id(password, header[8:], passes, kibibytes)


def seal_password_box(password: bytes, secret: bytes, passes: int, kibibytes: int, random: bytes) -> bytes:
    """`random` is the salt and then the nonces' draw."""
    header = le32(passes) + le32(kibibytes) + random[:16]
    key = _password_key(password, header)
    return header + seal(key, secret, Nonces(random[16:]).next(), "password-box", header)


def open_password_box(password: bytes, box: bytes) -> bytes:
    require(len(box) >= _HEADER + 24 + 16, Reason.MALFORMED, "a box cut short")
    header = box[:_HEADER]
    return open_(_password_key(password, header), box[_HEADER:], "password-box", header)


def bundle_id(key: bytes) -> bytes:
    return kdf(key, "recovery/id")[:16]


def seal_bundle(key: bytes, seeds: bytes, random: bytes) -> bytes:
    bundle_key = kdf(key, "recovery/key", b"")
    return seal(bundle_key, seeds, Nonces(random).next(), "recovery/bundle", bundle_id(key))


def open_bundle(key: bytes, sealed: bytes) -> list[bytes]:
    return split_seeds(open_(kdf(key, "recovery/key", b""), sealed, "recovery/bundle", bundle_id(key)))


def passphrase_key(passphrase: bytes, name: str, origin: str) -> bytes:
    """The recovery key that a passphrase gives, with a name and a server."""
    folded = name.encode().strip(b" \t").lower()  # of bytes: A to Z alone
    require(len(passphrase) > 0, Reason.LENGTH, "no passphrase")
    require(0 < len(folded) <= 255, Reason.LENGTH, "no name, or one too long")
    salt = hash_("recovery/passphrase", origin.encode(), folded)[:16]
    return _argon2id(passphrase, salt, limits.ARGON2_PASSES[0], limits.ARGON2_KIBIBYTES[0])


def passkey_key(output: bytes, origin: str) -> bytes:
    """The recovery key that a passkey's answer gives, at a server."""
    require(len(output) == 32, Reason.LENGTH, "a passkey answers with 32 bytes")
    return kdf(output, "recovery/passkey", origin.encode())


def split_seeds(seeds: bytes) -> list[bytes]:
    """The seeds of all generations, oldest first."""
    whole = len(seeds) > 0 and len(seeds) % 32 == 0
    require(whole, Reason.MALFORMED, "seeds have 32 bytes each, and there is one")
    require(len(seeds) // 32 <= limits.GENERATIONS, Reason.MALFORMED, "more seeds than generations")
    return [seeds[i : i + 32] for i in range(0, len(seeds), 32)]


def _times_alpha(element: int) -> int:
    """Multiplication by x in GF(2)[x]/(x⁵+x²+1)."""
    element <<= 1
    return element ^ 0b100101 if element & 0b100000 else element


def _check_letter(group: int, letters: list[int]) -> int:
    total = group
    for exponent, letter in enumerate(letters, start=1):
        for _ in range(exponent):
            letter = _times_alpha(letter)
        total ^= letter
    return total


def recovery_text(key: bytes) -> str:
    """Thirteen groups of four letters and a check letter."""
    bits = int.from_bytes(key, "big") << 4
    letters = [bits >> (5 * (51 - i)) & 31 for i in range(52)]
    groups = []
    for number in range(GROUPS):
        group = letters[4 * number : 4 * number + 4]
        groups.append("".join(ALPHABET[i] for i in [*group, _check_letter(number, group)]))
    return "-".join(groups)


def parse_recovery_text(text: str) -> bytes:
    """The key; or which groups are mistyped."""
    if not text.isascii():  # or `upper` would make letters out of others
        raise MistypedRecoveryKey([], "letters that are in no alphabet of ours")
    cleaned = text.upper()
    for ignored in " -\r\n":
        cleaned = cleaned.replace(ignored, "")
    cleaned = cleaned.replace("O", "0").replace("I", "1").replace("L", "1")
    if len(cleaned) != 5 * GROUPS:
        raise MistypedRecoveryKey([], "not thirteen groups")
    wrong: list[int] = []
    bits = 0
    for number in range(GROUPS):
        letters = [ALPHABET.find(letter) for letter in cleaned[5 * number : 5 * number + 5]]
        if min(letters) < 0 or _check_letter(number, letters[:4]) != letters[4]:
            wrong.append(number + 1)
            continue
        for letter in letters[:4]:
            bits = bits << 5 | letter
    if wrong:
        raise MistypedRecoveryKey(wrong, "letters that do not fit their group")
    if bits & 0b1111:
        raise MistypedRecoveryKey([GROUPS], "bits set that the key does not have")
    return (bits >> 4).to_bytes(32, "big")
