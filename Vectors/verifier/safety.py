"""Identity, "Safety number": the 60 digits that two people compare."""

from __future__ import annotations

from .identity import VerifiedChain, identity_hash
from .notation import hash_


def half(container: str, user: bytes, newest: bytes) -> str:
    """One person's thirty digits; `newest` is the hash of the newest generation."""
    digest = hash_("safety-number", container.encode(), user, newest)
    fives = (int.from_bytes(digest[5 * i : 5 * i + 5], "little") % 100_000 for i in range(6))
    return "".join(f"{number:05}" for number in fives)


def half_of(container: str, chain: VerifiedChain) -> str:
    return half(container, chain.user, identity_hash(chain.generations[-1].data))


def digits(container: str, one: VerifiedChain, other: VerifiedChain) -> str:
    """The half of the lower user id comes first."""
    first, second = sorted((one, other), key=lambda chain: chain.user)
    return half_of(container, first) + half_of(container, second)


def shown(number: str) -> str:
    """Twelve groups of five."""
    return " ".join(number[i : i + 5] for i in range(0, len(number), 5))
