"""Labels. A label that is not in the table cannot be used."""

from __future__ import annotations

from typing import Final

PREFIX: Final = "sealkit/1/"

NAMES: Final = frozenset(
    """
    identity/sign identity/grant account/login account/storage user identity identity-hash
    login-binding login device account-deletion login-rotation verification-code safety-number server-request
    server/webhook
    enrolment/commitment enrolment/transcript enrolment/seeds
    recovery/id recovery/key recovery/bundle recovery/passphrase recovery/passkey password-box
    storage-box scope roster-entry roster-hash key-id previous-key grant grant-outer grant-hash
    sealed-address record-wrap record-key record-context sealed-field field fields statement
    statement-node statements taken file-key asset-chunks asset-leaf asset-node link link-id sealed-link
    invitation/sign invitation/grant preview-key preview preview-signature acceptance sealed-contact
    """.split()
)


def label(name: str) -> bytes:
    """The full label of a name in the table."""
    if name not in NAMES:
        raise AssertionError(f"no such label: {name}")
    return (PREFIX + name).encode("ascii")
