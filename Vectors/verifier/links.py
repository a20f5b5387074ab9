"""Invitations and URLs: link secrets, invitation keys, URLs, acceptances. Previews are in `previews.py`."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from . import hpke, limits, xwing
from .errors import Reason, Refused, present, require
from .identity import VerifiedChain
from .notation import hash_, kdf, public_signing_key, verify

_VERSION = 1
_URL = re.compile(r"(https?://[a-z0-9.-]+(?::[0-9]{1,5})?)/s/([A-Za-z0-9_-]+)#([A-Za-z0-9_-]+)\Z")


def base64url(data: bytes) -> str:
    """Without padding."""
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def from_base64url(text: str, reason: Reason) -> bytes:
    """Without padding, and of one spelling: unused bits are zero, no other letters are skipped."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise Refused(reason, "no base64url") from None
    require(base64url(data) == text, reason, "another spelling of base64url")
    return data


def invitation_signing_seed(link_secret: bytes, scope_id: bytes, invitation: bytes) -> bytes:
    return kdf(link_secret, "invitation/sign", scope_id, invitation)


def invitation_grant_seed(link_secret: bytes, scope_id: bytes, invitation: bytes) -> bytes:
    return kdf(link_secret, "invitation/grant", scope_id, invitation)


def invitation_keys(link_secret: bytes, scope_id: bytes, invitation: bytes) -> tuple[bytes, bytes]:
    """An invitation's public keys: to sign acceptances with, to seal grants to."""
    signing_key = public_signing_key(invitation_signing_seed(link_secret, scope_id, invitation))
    return signing_key, xwing.public_key(invitation_grant_seed(link_secret, scope_id, invitation))


def link_commitment(scope_id: bytes) -> bytes:
    return hash_("link", scope_id)[:16]


def link_id(link_secret: bytes, scope_id: bytes) -> bytes:
    """What a roster's settings name of the share-wide URL's secret."""
    return kdf(link_secret, "link-id", scope_id)


def open_sealed_link(grant_key_seed: bytes, sealed: bytes, scope_id: bytes, expected: bytes, reader: bytes) -> bytes:
    """The share-wide secret as an administrator gets it. A copy that does not give the link id is refused."""
    require(len(sealed) <= limits.SEALED_LINK, Reason.LENGTH, "a sealed link longer than its limit")
    secret = hpke.open_(grant_key_seed, sealed, "sealed-link", scope_id, expected, reader)
    require(len(secret) == 32, Reason.KEY_MISMATCH, "a link secret has 32 bytes")
    require(link_id(secret, scope_id) == expected, Reason.KEY_MISMATCH, "not the secret of the roster's link id")
    return secret


@dataclass(frozen=True)
class ShareURL:
    origin: str
    routing_id: bytes
    link_secret: bytes
    commitment: bytes

    @staticmethod
    def parse(url: str) -> ShareURL:
        match = present(_URL.match(url), Reason.URL, "no share URL")
        routing_id = from_base64url(match[2], Reason.URL)
        secret_part = from_base64url(match[3], Reason.URL)
        require(len(routing_id) == 16, Reason.URL, "a routing id has 16 bytes")
        require(len(secret_part) == 1 + 32 + 16, Reason.URL, "the secret part has 49 bytes")
        require(secret_part[0] == _VERSION, Reason.URL, "another version")
        return ShareURL(match[1], routing_id, secret_part[1:33], secret_part[33:])

    def __str__(self) -> str:
        secret_part = bytes([_VERSION]) + self.link_secret + self.commitment
        return f"{self.origin}/s/{base64url(self.routing_id)}#{base64url(secret_part)}"

    def check_scope(self, scope_id: bytes) -> None:
        require(self.commitment == link_commitment(scope_id), Reason.URL, "the URL of another scope")


def acceptance_pieces(scope_id: bytes, invitation: bytes, acceptor: VerifiedChain, head: bytes) -> tuple[bytes, ...]:
    return scope_id, invitation, acceptor.user, acceptor.signing_key, acceptor.grant_key, head


def verify_acceptance(
    key: bytes, signature: bytes, scope_id: bytes, invitation: bytes, acceptor: VerifiedChain, head: bytes
) -> None:
    """The acceptor had the URL when `head` was the head."""
    verify(key, signature, "acceptance", *acceptance_pieces(scope_id, invitation, acceptor, head))
