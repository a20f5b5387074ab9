"""Notation: PAE, the hashes, the signatures and the AEAD that everything is made of."""

from __future__ import annotations

import hashlib

import nacl.bindings as sodium
import nacl.exceptions

from .errors import Reason, Refused, require
from .labels import label

NONCE = 24
TAG = 16


def le16(number: int) -> bytes:
    return number.to_bytes(2, "little")


def le32(number: int) -> bytes:
    return number.to_bytes(4, "little")


def le64(number: int) -> bytes:
    return number.to_bytes(8, "little")


def le64_signed(number: int) -> bytes:
    return number.to_bytes(8, "little", signed=True)


def pae(*pieces: bytes) -> bytes:
    """PASETO's pre-authentication encoding: unambiguous, whatever the pieces hold."""
    return le64(len(pieces)) + b"".join(le64(len(piece)) + piece for piece in pieces)


def hash_(name: str, *pieces: bytes) -> bytes:
    """`H(L, …)`: BLAKE2b-256 of the PAE."""
    return hashlib.blake2b(pae(label(name), *pieces), digest_size=32).digest()


def kdf(key: bytes, name: str, *pieces: bytes) -> bytes:
    """`KDF(k, L, …)`: BLAKE2b-256 keyed with 32 bytes, of the PAE."""
    if len(key) != 32:
        raise AssertionError("a KDF key has 32 bytes")
    return hashlib.blake2b(pae(label(name), *pieces), key=key, digest_size=32).digest()


def sha(name: str, *pieces: bytes) -> bytes:
    """`SHA(L, …)`: SHA-256 of the PAE; assets only."""
    return hashlib.sha256(pae(label(name), *pieces)).digest()


def public_signing_key(seed: bytes) -> bytes:
    """The Ed25519 public key of a 32-byte seed."""
    return sodium.crypto_sign_seed_keypair(seed)[0]


def sign_bytes(seed: bytes, message: bytes) -> bytes:
    """Ed25519 (RFC 8032) over bytes as they are."""
    secret_key = sodium.crypto_sign_seed_keypair(seed)[1]
    return sodium.crypto_sign(message, secret_key)[: sodium.crypto_sign_BYTES]


def sign(seed: bytes, name: str, *pieces: bytes) -> bytes:
    """`Sign(sk, L, …)`: Ed25519 over the PAE."""
    return sign_bytes(seed, pae(label(name), *pieces))


def is_signing_key(key: bytes) -> bool:
    """Whether a key is canonical, on the curve, in the prime-order subgroup and not of small order."""
    return len(key) == 32 and bool(sodium.crypto_core_ed25519_is_valid_point(key))


def verify_bytes(key: bytes, signature: bytes, message: bytes) -> None:
    """"Verification of signatures". The point check comes first: libsodium's verification alone lets
    keys with a small-order component pass."""
    require(is_signing_key(key), Reason.SIGNATURE, "the public key is no canonical prime-order point")
    require(len(signature) == 64, Reason.SIGNATURE, "a signature has 64 bytes")
    try:
        sodium.crypto_sign_open(signature + message, key)
        holds = True
    except nacl.exceptions.BadSignatureError:
        holds = False
    require(holds, Reason.SIGNATURE, "the signature does not hold")


def verify(key: bytes, signature: bytes, name: str, *pieces: bytes) -> None:
    """Verifies what `sign` makes."""
    verify_bytes(key, signature, pae(label(name), *pieces))


class Nonces:
    """The nonces of one call: 16 random bytes drawn once, and a counter over every seal."""

    def __init__(self, random: bytes) -> None:
        if len(random) != 16:
            raise AssertionError("a draw of nonces has 16 bytes")
        self._random = random
        self._counter = 0

    def next(self) -> bytes:
        nonce = self._random + le64(self._counter)
        self._counter += 1
        return nonce


def seal(key: bytes, message: bytes, nonce: bytes, name: str, *pieces: bytes) -> bytes:
    """`AEAD(k, m, L, …)`, written nonce ‖ ciphertext ‖ tag."""
    return nonce + sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(
        message, pae(label(name), *pieces), nonce, key
    )


def open_(key: bytes, sealed: bytes, name: str, *pieces: bytes) -> bytes:
    """Opens what `seal` makes. Every cause fails alike, too few bytes included."""
    require(len(sealed) >= NONCE + TAG, Reason.AUTHENTICATION, f"{name} does not open")
    try:
        return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
            sealed[NONCE:], pae(label(name), *pieces), sealed[:NONCE], key
        )
    except nacl.exceptions.CryptoError:
        raise Refused(Reason.AUTHENTICATION, f"{name} does not open") from None
