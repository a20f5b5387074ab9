"""X-Wing (draft-connolly-cfrg-xwing-kem): ML-KEM-768 and X25519 in one KEM.

The ML-KEM is kyber-py's (FIPS 203, pure Python), the rest is here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from kyber_py.ml_kem import ML_KEM_768  # type: ignore[import-untyped]

from .errors import Reason, Refused, require

PUBLIC_KEY = 1_216
ENCAPSULATION = 1_120
_ML_KEM_PUBLIC_KEY = 1_184
_ML_KEM_CIPHERTEXT = 1_088
_COEFFICIENTS = 1_152
_Q = 3_329
_LABEL = rb"\.//^" + b"\\"  # the draft's six letters: \.//^\


@dataclass(frozen=True)
class KeyPair:
    """A seed's keys, expanded."""

    public_key: bytes
    ml_kem_secret: bytes
    x25519_secret: bytes

    @property
    def x25519_public(self) -> bytes:
        return self.public_key[_ML_KEM_PUBLIC_KEY:]


@cache
def key_pair(seed: bytes) -> KeyPair:
    """Expands a 32-byte seed. Cached: key generation is what is slow here."""
    if len(seed) != 32:
        raise AssertionError("an X-Wing seed has 32 bytes")
    expanded = hashlib.shake_256(seed).digest(96)
    public_key, secret_key = ML_KEM_768.key_derive(expanded[:64])
    x25519 = X25519PrivateKey.from_private_bytes(expanded[64:])
    return KeyPair(public_key + x25519.public_key().public_bytes_raw(), secret_key, expanded[64:])


def public_key(seed: bytes) -> bytes:
    return key_pair(seed).public_key


def _combine(ml_kem: bytes, x25519: bytes, ciphertext: bytes, recipient: bytes) -> bytes:
    return hashlib.sha3_256(ml_kem + x25519 + ciphertext + recipient + _LABEL).digest()


def _agree(secret: bytes, public: bytes) -> bytes:
    try:
        return X25519PrivateKey.from_private_bytes(secret).exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        # The library refuses a shared secret of nothing but zeros.
        raise Refused(Reason.AUTHENTICATION, "an X25519 point of small order") from None


def decapsulate(seed: bytes, encapsulation: bytes) -> bytes:
    """The shared secret. ML-KEM rejects implicitly: an altered ciphertext gives another secret."""
    require(len(encapsulation) == ENCAPSULATION, Reason.AUTHENTICATION, "an encapsulated key of another length")
    keys = key_pair(seed)
    ml_kem_part = encapsulation[:_ML_KEM_CIPHERTEXT]
    x25519_part = encapsulation[_ML_KEM_CIPHERTEXT:]
    ml_kem = ML_KEM_768.decaps(keys.ml_kem_secret, ml_kem_part)
    x25519 = _agree(keys.x25519_secret, x25519_part)
    return _combine(ml_kem, x25519, x25519_part, keys.x25519_public)


def encapsulate(public: bytes) -> tuple[bytes, bytes]:
    """A fresh shared secret and its encapsulation (for exports that we make ourselves, to test)."""
    ml_kem, ml_kem_part = ML_KEM_768.encaps(public[:_ML_KEM_PUBLIC_KEY])
    ephemeral = X25519PrivateKey.generate()
    x25519_part = ephemeral.public_key().public_bytes_raw()
    recipient = public[_ML_KEM_PUBLIC_KEY:]
    x25519 = _agree(ephemeral.private_bytes_raw(), recipient)
    return _combine(ml_kem, x25519, x25519_part, recipient), ml_kem_part + x25519_part


def is_public_key(public: bytes) -> bool:
    """R-KEY-1: whether a grant key can be sealed to."""
    if len(public) != PUBLIC_KEY:
        return False
    # 768 coefficients of twelve bits: two in every three bytes, the low nibble first.
    for offset in range(0, _COEFFICIENTS, 3):
        pair = int.from_bytes(public[offset : offset + 3], "little")
        if pair & 0xFFF >= _Q or pair >> 12 >= _Q:
            return False
    try:
        # Any clamped scalar is a multiple of eight, so exactly the points of small order give zero.
        _agree(b"\x01" * 32, public[_ML_KEM_PUBLIC_KEY:])
    except Refused:
        return False
    return True
