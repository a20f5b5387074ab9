"""Identity: seeds, identities, chains, user ids."""

from __future__ import annotations

from dataclasses import dataclass

from . import limits, xwing
from .codec import ZERO_DIGEST, Reader, Writer, check_canonical
from .errors import Reason, require
from .notation import hash_, is_signing_key, kdf, public_signing_key, sign, verify


def signing_seed(seed: bytes, container: str) -> bytes:
    return kdf(seed, "identity/sign", container.encode())


def grant_seed(seed: bytes, container: str) -> bytes:
    return kdf(seed, "identity/grant", container.encode())


def user_id(container: str, first_signing_key: bytes) -> bytes:
    return hash_("user", container.encode(), first_signing_key)[:16]


def check_grant_key(key: bytes) -> None:
    """A grant key is valid only if it can be sealed to."""
    require(xwing.is_public_key(key), Reason.KEY, "a grant key that cannot be sealed to")


def check_signing_key(key: bytes) -> None:
    require(is_signing_key(key), Reason.KEY, "a signing key that is no key")


def check_seat_keys(signing_key: bytes, grant_key: bytes) -> None:
    """The keys of an invitation or public seat (R-KEY-2)."""
    check_signing_key(signing_key)
    check_grant_key(grant_key)


@dataclass(frozen=True)
class Identity:
    """The statement of one generation."""

    container: str
    generation: int
    signing_key: bytes
    grant_key: bytes
    time: int
    previous: bytes

    def encode(self) -> bytes:
        writer = Writer().name(self.container).u32(self.generation)
        writer.raw(self.signing_key, 32).raw(self.grant_key, limits.GRANT_KEY)
        return writer.i64(self.time).digest(self.previous).data

    @staticmethod
    def decode(data: bytes) -> Identity:
        require(len(data) <= limits.IDENTITY, Reason.LENGTH, "an identity longer than its limit")
        reader = Reader(data)
        identity = Identity(
            container=reader.container(),
            generation=reader.u32(),
            signing_key=reader.raw(32),
            grant_key=reader.raw(limits.GRANT_KEY),
            time=reader.i64(),
            previous=reader.digest(),
        )
        reader.end()
        check_canonical(data, identity.encode())
        return identity


@dataclass(frozen=True)
class SignedIdentity:
    """Identity bytes with their signatures, as they stand in a chain."""

    data: bytes
    signature: bytes
    previous_signature: bytes

    @property
    def identity(self) -> Identity:
        return Identity.decode(self.data)


@dataclass(frozen=True)
class VerifiedChain:
    """A chain that holds: who it is, and the keys of its newest generation."""

    generations: tuple[SignedIdentity, ...]
    user: bytes
    signing_key: bytes
    grant_key: bytes

    def continues(self, other: VerifiedChain) -> bool:
        """Whether the identity bytes of this chain's first generations are the other's."""
        count = len(other.generations)
        return [g.data for g in self.generations[:count]] == [g.data for g in other.generations]


def identity_hash(data: bytes) -> bytes:
    return hash_("identity-hash", data)


def sign_identity(
    seed: bytes, container: str, time: int, before: SignedIdentity | None = None, seed_before: bytes = b""
) -> SignedIdentity:
    """A generation of a seed, signed by its key and, unless it is generation 0, by the key before."""
    key = signing_seed(seed, container)
    grant_key = xwing.public_key(grant_seed(seed, container))
    generation = before.identity.generation + 1 if before else 0
    previous = identity_hash(before.data) if before else ZERO_DIGEST
    data = Identity(container, generation, public_signing_key(key), grant_key, time, previous).encode()
    by_previous = sign(signing_seed(seed_before, container), "identity", data) if before else b""
    return SignedIdentity(data, sign(key, "identity", data), by_previous)


def read_chain(reader: Reader) -> tuple[SignedIdentity, ...]:
    """A chain as written inside entries."""
    count = reader.u16()
    require(1 <= count <= limits.GENERATIONS, Reason.IDENTITY, "a chain of no or too many generations")
    return tuple(
        SignedIdentity(reader.blob(limits.IDENTITY), reader.blob(64), reader.blob(64)) for _ in range(count)
    )


def write_chain(writer: Writer, chain: tuple[SignedIdentity, ...]) -> None:
    writer.u16(len(chain))
    for generation in chain:
        writer.blob(generation.data).blob(generation.signature).blob(generation.previous_signature)


def verify_chain(chain: tuple[SignedIdentity, ...], container: str) -> VerifiedChain:
    """Refuses a chain unless every generation of it holds."""
    require(1 <= len(chain) <= limits.GENERATIONS, Reason.IDENTITY, "a chain of no or too many generations")
    first = before = None
    previous = ZERO_DIGEST
    for number, signed in enumerate(chain):
        identity = signed.identity
        require(identity.container == container, Reason.IDENTITY, "an identity of another container")
        require(identity.generation == number, Reason.IDENTITY, "generations that do not count from 0")
        require(identity.previous == previous, Reason.IDENTITY, "not the generation before")
        check_signing_key(identity.signing_key)
        check_grant_key(identity.grant_key)
        verify(identity.signing_key, signed.signature, "identity", signed.data)
        if first is None or before is None:
            first = identity
            require(signed.previous_signature == b"", Reason.MALFORMED, "generation 0 signed by one before")
        else:
            verify(before.signing_key, signed.previous_signature, "identity", signed.data)
        before = identity
        previous = identity_hash(signed.data)
    if first is None or before is None:
        raise AssertionError("a chain without a generation went through")
    return VerifiedChain(chain, user_id(container, first.signing_key), before.signing_key, before.grant_key)
