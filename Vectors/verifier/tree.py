"""The hash trees of "Tree" and "Assets": neighbours are paired, a node without a sibling rises unchanged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import limits
from .errors import Reason, require
from .notation import hash_, le32, sha, sign, verify

Node = Callable[[bytes, bytes], bytes]


def statement_node(left: bytes, right: bytes) -> bytes:
    return hash_("statement-node", left, right)


def asset_node(left: bytes, right: bytes) -> bytes:
    return sha("asset-node", left, right)


def root(leaves: Sequence[bytes], node: Node) -> bytes:
    require(len(leaves) > 0, Reason.LENGTH, "a tree has a leaf")
    level = list(leaves)
    while len(level) > 1:
        paired = [node(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = paired + level[len(level) - len(level) % 2 :]
    return level[0]


def path(leaves: Sequence[bytes], index: int, node: Node) -> list[bytes]:
    """The siblings that exist, from the leaf up."""
    siblings: list[bytes] = []
    level = list(leaves)
    while len(level) > 1:
        if index ^ 1 < len(level):
            siblings.append(level[index ^ 1])
        paired = [node(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = paired + level[len(level) - len(level) % 2 :]
        index //= 2
    return siblings


def root_of_path(
    leaf: bytes, index: int, leaf_count: int, siblings: Sequence[bytes], limit: int = limits.STATEMENTS
) -> bytes:
    """Where a statement's path leads. More or fewer siblings than the leaf count implies are refused."""
    require(1 <= leaf_count <= limit, Reason.PROOF, "no leaf, or too many")
    require(0 <= index < leaf_count, Reason.PROOF, "an index past the end")
    node, width, rest = leaf, leaf_count, list(siblings)
    while width > 1:
        if index ^ 1 < width:
            require(bool(rest), Reason.PROOF, "a path cut short")
            sibling = rest.pop(0)
            require(len(sibling) == 32, Reason.PROOF, "a sibling that is no digest")
            node = statement_node(sibling, node) if index & 1 else statement_node(node, sibling)
        index //= 2
        width = (width + 1) // 2
    require(not rest, Reason.PROOF, "a path too long")
    return node


def sign_root(seed: bytes, tree_root: bytes, leaf_count: int) -> bytes:
    return sign(seed, "statements", tree_root, le32(leaf_count))


def verify_root(key: bytes, signature: bytes, tree_root: bytes, leaf_count: int) -> None:
    verify(key, signature, "statements", tree_root, le32(leaf_count))
