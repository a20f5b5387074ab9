"""Verification tokens: PASETO v4.public."""

from __future__ import annotations

import hashlib

from . import limits
from .errors import Reason, require
from .links import base64url, from_base64url
from .notation import pae, sign_bytes, verify_bytes

_HEADER = "v4.public."
_ID = "k4.pid."


def sign_token(seed: bytes, message: bytes, footer: bytes, implicit: bytes) -> str:
    signature = sign_bytes(seed, pae(_HEADER.encode(), message, footer, implicit))
    token = _HEADER + base64url(message + signature)
    return token + "." + base64url(footer) if footer else token


def verify_token(key: bytes, token: str, footer: bytes, implicit: bytes) -> bytes:
    """The message of a token that has this very footer and assertion."""
    require(len(token) <= limits.TOKEN, Reason.LENGTH, "a token longer than its limit")
    require(token.startswith(_HEADER), Reason.MALFORMED, "another version or purpose")
    parts = token.removeprefix(_HEADER).split(".")
    require(len(parts) == (2 if footer else 1), Reason.MALFORMED, "a footer, or none")
    body = from_base64url(parts[0], Reason.MALFORMED)
    found = from_base64url(parts[1], Reason.MALFORMED) if footer else b""
    require(found == footer, Reason.MALFORMED, "another footer")
    require(len(body) >= 64, Reason.MALFORMED, "too short for a signature")
    message, signature = body[:-64], body[-64:]
    verify_bytes(key, signature, pae(_HEADER.encode(), message, footer, implicit))
    return message


def key_id(key: bytes) -> str:
    """A public key's PASERK id."""
    digest = hashlib.blake2b((_ID + "k4.public." + base64url(key)).encode(), digest_size=33).digest()
    return _ID + base64url(digest)
