"""Canonical encoding, and the names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, TypeVar

from . import limits
from .errors import Reason, Refused, require
from .notation import le16, le32, le64, le64_signed

T = TypeVar("T")

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_CONTAINER = re.compile(r"[A-Za-z0-9.-]+\Z")
_USER = re.compile(r"_[0-9a-f]{32}\Z")

ENVIRONMENTS = {1: "development", 2: "production"}
NO_PERMISSION = 0  # public permission alone
READ_ONLY = 1
READ_WRITE = 2
ZERO_DIGEST = bytes(32)


def checked_name(name: str) -> str:
    """A `name`: 1 to 255 bytes of 0x20–0x7E."""
    require(len(name.encode("utf-8", "surrogatepass")) <= limits.NAME, Reason.LENGTH, "a name of more than 255 bytes")
    require(name != "", Reason.NAME, "an empty name")
    require(all(" " <= letter <= "~" for letter in name), Reason.NAME, "a name with a letter outside 0x20–0x7E")
    return name


def checked_identifier(name: str) -> str:
    """A field name or record type."""
    checked_name(name)
    require(_IDENTIFIER.match(name) is not None, Reason.NAME, "no identifier")
    return name


def checked_record_type(name: str) -> str:
    """A record type: an identifier, or the share's own type."""
    return name if name == "cloudkit.share" else checked_identifier(name)


def checked_container(name: str) -> str:
    checked_name(name)
    require(_CONTAINER.match(name) is not None, Reason.NAME, "no container name")
    return name


def user_id(record_name: str) -> bytes:
    """The id behind a user record name."""
    require(_USER.match(record_name) is not None, Reason.NAME, "no user record name")
    return bytes.fromhex(record_name[1:])


def user_record_name(identifier: bytes) -> str:
    return "_" + identifier.hex()


def strictly_ascending(keys: Iterable[object]) -> bool:
    listed: list[Any] = list(keys)
    return all(before < after for before, after in pairwise(listed))


class Reader:
    """Reads a structure field by field. Lengths are checked before bytes are taken."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    @property
    def remaining(self) -> int:
        return len(self._data) - self.position

    def raw(self, count: int) -> bytes:
        require(count <= self.remaining, Reason.MALFORMED, "cut short")
        self.position += count
        return self._data[self.position - count : self.position]

    def _number(self, width: int, signed: bool = False) -> int:
        return int.from_bytes(self.raw(width), "little", signed=signed)

    def u8(self) -> int:
        return self._number(1)

    def u16(self) -> int:
        return self._number(2)

    def u32(self) -> int:
        return self._number(4)

    def u64(self) -> int:
        return self._number(8)

    def i64(self) -> int:
        return self._number(8, signed=True)

    def flag(self) -> bool:
        value = self.u8()
        require(value <= 1, Reason.MALFORMED, "a flag is 0 or 1")
        return value == 1

    def choice(self, allowed: tuple[int, ...], what: str) -> int:
        value = self.u8()
        require(value in allowed, Reason.MALFORMED, f"an unknown {what}")
        return value

    def digest(self) -> bytes:
        return self.raw(32)

    def id(self) -> bytes:
        return self.raw(16)

    def blob(self, limit: int = limits.STRING) -> bytes:
        length = self.u32()
        require(length <= limit, Reason.LENGTH, "longer than its limit")
        return self.raw(length)

    def string(self, limit: int = limits.STRING) -> str:
        try:
            # Python's decoder is strict: no surrogates, no overlong forms.
            return self.blob(limit).decode("utf-8")
        except UnicodeDecodeError:
            raise Refused(Reason.MALFORMED, "no valid UTF-8") from None

    def name(self) -> str:
        return checked_name(self.string(limits.NAME))

    def container(self) -> str:
        return checked_container(self.name())

    def environment(self) -> int:
        return self.choice(tuple(ENVIRONMENTS), "environment")

    def permission(self) -> int:
        return self.choice((READ_ONLY, READ_WRITE), "permission")

    def optional(self, read: Callable[[], T]) -> T | None:
        return read() if self.flag() else None

    def end(self) -> None:
        require(self.remaining == 0, Reason.MALFORMED, "trailing bytes")


class Writer:
    """Writes a structure field by field."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    @property
    def data(self) -> bytes:
        return b"".join(self._parts)

    def raw(self, data: bytes, length: int | None = None) -> Writer:
        require(length is None or len(data) == length, Reason.LENGTH, "not the length that it has to have")
        self._parts.append(data)
        return self

    def u8(self, number: int) -> Writer:
        return self.raw(number.to_bytes(1, "little"))

    def u16(self, number: int) -> Writer:
        return self.raw(le16(number))

    def u32(self, number: int) -> Writer:
        return self.raw(le32(number))

    def u64(self, number: int) -> Writer:
        return self.raw(le64(number))

    def i64(self, number: int) -> Writer:
        return self.raw(le64_signed(number))

    def flag(self, value: bool) -> Writer:
        return self.u8(1 if value else 0)

    def digest(self, data: bytes) -> Writer:
        return self.raw(data, 32)

    def id(self, data: bytes) -> Writer:
        return self.raw(data, 16)

    def blob(self, data: bytes) -> Writer:
        return self.u32(len(data)).raw(data)

    def string(self, text: str) -> Writer:
        return self.blob(text.encode("utf-8"))

    def name(self, text: str) -> Writer:
        return self.string(checked_name(text))

    def optional(self, value: T | None, write: Callable[[T], object]) -> Writer:
        self.flag(value is not None)
        if value is not None:
            write(value)
        return self


def check_canonical(data: bytes, encoded: bytes) -> None:
    """There is one encoding: what was decoded encodes to the very bytes."""
    require(data == encoded, Reason.MALFORMED, "not the canonical encoding")
