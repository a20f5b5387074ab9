"""HPKE (RFC 9180): single shot, base mode, KEM X-Wing, HKDF-SHA256, ChaCha20-Poly1305."""

from __future__ import annotations

import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from . import xwing
from .errors import Reason, Refused, require
from .labels import label
from .notation import TAG, pae

KEM, HKDF_SHA256, CHACHA20_POLY1305 = 0x647A, 0x0001, 0x0003
_SUITE = b"HPKE" + b"".join(number.to_bytes(2, "big") for number in (KEM, HKDF_SHA256, CHACHA20_POLY1305))
_BASE_MODE = b"\x00"


def _extract(salt: bytes, name: bytes, secret: bytes) -> bytes:
    return hmac.new(salt or bytes(32), b"HPKE-v1" + _SUITE + name + secret, hashlib.sha256).digest()


def _expand(key: bytes, name: bytes, info: bytes, length: int) -> bytes:
    if length > 32:
        raise AssertionError("one block of HKDF is all that this suite needs")
    labeled = length.to_bytes(2, "big") + b"HPKE-v1" + _SUITE + name + info
    return hmac.new(key, labeled + b"\x01", hashlib.sha256).digest()[:length]


def key_schedule(shared_secret: bytes, info: bytes) -> tuple[bytes, bytes]:
    """RFC 9180, 5.1: key and nonce of the only message."""
    context = _BASE_MODE + _extract(b"", b"psk_id_hash", b"") + _extract(b"", b"info_hash", info)
    secret = _extract(shared_secret, b"secret", b"")
    return _expand(secret, b"key", context, 32), _expand(secret, b"base_nonce", context, 12)


def open_(seed: bytes, sealed: bytes, name: str, *pieces: bytes) -> bytes:
    """Opens `HPKE(pk, m, L, …)`. Every cause fails alike."""
    require(len(sealed) >= xwing.ENCAPSULATION + TAG, Reason.AUTHENTICATION, f"{name} does not open")
    shared_secret = xwing.decapsulate(seed, sealed[: xwing.ENCAPSULATION])
    key, nonce = key_schedule(shared_secret, pae(label(name), *pieces))
    try:
        return ChaCha20Poly1305(key).decrypt(nonce, sealed[xwing.ENCAPSULATION :], b"")
    except InvalidTag:
        raise Refused(Reason.AUTHENTICATION, f"{name} does not open") from None


def seal(public_key: bytes, message: bytes, name: str, *pieces: bytes) -> bytes:
    """Seals freshly (for exports that we make ourselves, to test)."""
    shared_secret, encapsulation = xwing.encapsulate(public_key)
    key, nonce = key_schedule(shared_secret, pae(label(name), *pieces))
    return encapsulation + ChaCha20Poly1305(key).encrypt(nonce, message, b"")
