"""Assets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from . import limits, tree
from .errors import Reason, Refused, require
from .fields import Commitment, PublicCommitment
from .notation import TAG, kdf, le64, sha
from .values import padded_length

LEAF = 32


@dataclass(frozen=True)
class Layout:
    """Where the bytes of an asset of `size` lie."""

    size: int

    def __post_init__(self) -> None:
        require(0 <= self.size <= limits.ASSET, Reason.LENGTH, "an asset larger than its limit")

    @property
    def padded_size(self) -> int:
        return padded_length(self.size)

    @property
    def chunk_count(self) -> int:
        return -(-self.padded_size // limits.CHUNK)

    @property
    def sealed_bytes(self) -> int:
        return self.padded_size + TAG * self.chunk_count

    @property
    def blob_bytes(self) -> int:
        return self.sealed_bytes + LEAF * self.chunk_count

    def chunk_length(self, chunk: int) -> int:
        require(0 <= chunk < self.chunk_count, Reason.LENGTH, "a chunk past the end")
        return min(limits.CHUNK, self.padded_size - chunk * limits.CHUNK)


def chunk_key(file_key: bytes, salt: bytes) -> bytes:
    return kdf(file_key, "asset-chunks", salt)


def _nonce(layout: Layout, chunk: int) -> bytes:
    last = chunk == layout.chunk_count - 1
    return le64(chunk) + bytes(3) + bytes([last])


def seal_chunk(key: bytes, layout: Layout, chunk: int, plaintext: bytes) -> bytes:
    require(len(plaintext) == layout.chunk_length(chunk), Reason.LENGTH, "a chunk of another length")
    return ChaCha20Poly1305(key).encrypt(_nonce(layout, chunk), plaintext, None)


def open_chunk(key: bytes, layout: Layout, chunk: int, sealed: bytes) -> bytes:
    require(0 <= chunk < layout.chunk_count, Reason.AUTHENTICATION, "a chunk does not open")
    expected = layout.chunk_length(chunk) + TAG
    require(len(sealed) == expected, Reason.AUTHENTICATION, "a chunk does not open")
    try:
        return ChaCha20Poly1305(key).decrypt(_nonce(layout, chunk), sealed, None)
    except InvalidTag:
        raise Refused(Reason.AUTHENTICATION, "a chunk does not open") from None


def leaf_hash(sealed: bytes) -> bytes:
    return sha("asset-leaf", sealed)


def root(leaves: list[bytes]) -> bytes:
    require(len(leaves) <= limits.CHUNKS, Reason.LENGTH, "too many chunks")
    return tree.root(leaves, tree.asset_node)


@dataclass(frozen=True)
class PublicLayout:
    """In the public database an asset's chunks are plain, its bytes not padded."""

    size: int

    def __post_init__(self) -> None:
        require(0 <= self.size <= limits.ASSET, Reason.LENGTH, "an asset larger than its limit")

    @property
    def chunk_count(self) -> int:
        """No bytes are one empty chunk."""
        return max(1, -(-self.size // limits.CHUNK))

    def chunk_length(self, chunk: int) -> int:
        require(0 <= chunk < self.chunk_count, Reason.LENGTH, "a chunk past the end")
        return min(limits.CHUNK, self.size - chunk * limits.CHUNK)


def public_leaves(data: bytes) -> list[bytes]:
    layout = PublicLayout(len(data))
    return [leaf_hash(data[i * limits.CHUNK :][: layout.chunk_length(i)]) for i in range(layout.chunk_count)]


def check_public_asset(data: bytes, commitment: PublicCommitment) -> None:
    require(len(data) == commitment.size, Reason.LENGTH, "an asset of another size")
    require(root(public_leaves(data)) == commitment.root, Reason.PROOF, "not the asset that the record commits to")


def check_public_chunk(chunk: bytes, index: int, leaves: list[bytes], commitment: PublicCommitment) -> None:
    """One chunk of a range: the leaves are the committed ones, the chunk is its leaf's."""
    layout = PublicLayout(commitment.size)
    require(len(leaves) == layout.chunk_count, Reason.PROOF, "not as many leaves as the size gives")
    require(root(leaves) == commitment.root, Reason.PROOF, "not the leaves that the record commits to")
    require(len(chunk) == layout.chunk_length(index), Reason.LENGTH, "a chunk of another length")
    require(leaf_hash(chunk) == leaves[index], Reason.PROOF, "a chunk that is not its leaf's")


def check_chunk_count(size: int, commitment: Commitment) -> Layout:
    layout = Layout(size)
    require(layout.chunk_count == commitment.chunk_count, Reason.MALFORMED, "not the chunk count that the size gives")
    return layout


def open_blob(blob: BinaryIO, file_key: bytes, size: int, commitment: Commitment) -> Iterator[bytes]:
    """The asset's bytes, chunk by chunk, each checked against its leaf before it is opened."""
    layout = check_chunk_count(size, commitment)
    require(blob.seek(0, 2) == layout.blob_bytes, Reason.LENGTH, "a blob of another length")
    blob.seek(layout.sealed_bytes)
    leaves = [blob.read(LEAF) for _ in range(layout.chunk_count)]
    require(root(leaves) == commitment.root, Reason.PROOF, "not the leaves that the record commits to")
    key = chunk_key(file_key, commitment.salt)
    blob.seek(0)
    left = size
    for chunk, leaf in enumerate(leaves):
        sealed = blob.read(layout.chunk_length(chunk) + TAG)
        require(leaf_hash(sealed) == leaf, Reason.PROOF, "a chunk that is not its leaf's")
        plaintext = open_chunk(key, layout, chunk, sealed)
        yield plaintext[:left]
        left -= min(left, len(plaintext))


def seal_blob(data: bytes, file_key: bytes, salt: bytes) -> tuple[bytes, int, bytes]:
    """Blob, chunk count and root (for exports that we make ourselves, to test)."""
    layout = Layout(len(data))
    padded = data + bytes(layout.padded_size - len(data))
    key = chunk_key(file_key, salt)
    chunks = [
        seal_chunk(key, layout, i, padded[i * limits.CHUNK : (i + 1) * limits.CHUNK])
        for i in range(layout.chunk_count)
    ]
    leaves = [leaf_hash(chunk) for chunk in chunks]
    return b"".join(chunks + leaves), layout.chunk_count, root(leaves)


def digest_of(chunks: Iterator[bytes]) -> tuple[int, str]:
    """Size and SHA-256 of an opened asset."""
    digest, size = hashlib.sha256(), 0
    for chunk in chunks:
        digest.update(chunk)
        size += len(chunk)
    return size, digest.hexdigest()
