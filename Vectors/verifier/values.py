"""Values and padding."""

from __future__ import annotations

from dataclasses import dataclass

from . import limits
from .codec import Reader, Writer, check_canonical
from .errors import Reason, require

STRING, DATA, INT64, DOUBLE, DATE, LOCATION, REFERENCE, ASSET = range(1, 9)
LIST = 0x10  # alone: a list without elements, which is of no kind
KINDS = {
    STRING: "string",
    DATA: "data",
    INT64: "int64",
    DOUBLE: "double",
    DATE: "date",
    LOCATION: "location",
    REFERENCE: "reference",
}
ACTIONS = {0: "none", 1: "deleteSelf"}
_NAN = 0x7FF8000000000000
# The least that an element's payload takes: a count beyond what the bytes can hold is refused
# before anything is allocated.
_LEAST = {STRING: 4, DATA: 4, INT64: 8, DOUBLE: 8, DATE: 8, LOCATION: 64, REFERENCE: 6}


@dataclass(frozen=True)
class Location:
    """Seven doubles by their bits (so that −0 and 0 differ), and as the bits of a date its timestamp."""

    bits: tuple[int, ...]
    timestamp: int


@dataclass(frozen=True)
class Reference:
    record_name: str
    action: int


# A double is held by its bits, and so is a date: the double of its seconds since 2001. Which of the int
# kinds it is, the value's tag says.
Payload = str | bytes | int | Location | Reference


@dataclass(frozen=True)
class Value:
    """One value, or a list: of one kind, or empty and of none."""

    tag: int
    payload: Payload | tuple[Payload, ...]

    @property
    def kind(self) -> int:
        return self.tag & ~LIST

    @property
    def elements(self) -> tuple[Payload, ...] | None:
        return self.payload if isinstance(self.payload, tuple) else None


def check_tag(tag: int) -> None:
    """A tag that a value can have."""
    kind = tag & ~LIST
    require(kind != ASSET, Reason.UNSUPPORTED, "an asset is never a value")
    require(kind in KINDS or tag == LIST, Reason.MALFORMED, "an unknown tag")


def _double(reader: Reader) -> int:
    bits = reader.u64()
    is_nan = bits & 0x7FF0000000000000 == 0x7FF0000000000000 and bits & 0x000FFFFFFFFFFFFF != 0
    require(not is_nan or bits == _NAN, Reason.MALFORMED, "another NaN")
    return bits


def _check_date(bits: int) -> None:
    """Of a finite double, of which there is one zero."""
    require(bits & 0x7FF0000000000000 != 0x7FF0000000000000, Reason.MALFORMED, "a date that is not finite")
    require(bits != 1 << 63, Reason.MALFORMED, "minus zero as a date")


def _date(reader: Reader) -> int:
    bits = reader.u64()
    _check_date(bits)
    return bits


def _write_date(writer: Writer, bits: int) -> None:
    _check_date(bits)
    writer.u64(bits)


def _read_payload(reader: Reader, kind: int) -> Payload:
    if kind == STRING:
        return reader.string()
    if kind == DATA:
        return reader.blob()
    if kind == INT64:
        return reader.i64()
    if kind == DOUBLE:
        return _double(reader)
    if kind == DATE:
        return _date(reader)
    if kind == LOCATION:
        return Location(tuple(_double(reader) for _ in range(7)), _date(reader))
    return Reference(reader.name(), reader.choice(tuple(ACTIONS), "reference action"))


def _write_payload(writer: Writer, kind: int, payload: Payload) -> None:
    if kind == STRING and isinstance(payload, str):
        writer.string(payload)
    elif kind == DATA and isinstance(payload, bytes):
        writer.blob(payload)
    elif kind == INT64 and isinstance(payload, int):
        writer.i64(payload)
    elif kind == DOUBLE and isinstance(payload, int):
        writer.u64(payload)
    elif kind == DATE and isinstance(payload, int):
        _write_date(writer, payload)
    elif kind == LOCATION and isinstance(payload, Location):
        for bits in payload.bits:
            writer.u64(bits)
        _write_date(writer, payload.timestamp)
    elif kind == REFERENCE and isinstance(payload, Reference):
        writer.name(payload.record_name).u8(payload.action)
    else:
        raise AssertionError("a payload of another kind than its tag")


def read_value(reader: Reader) -> Value:
    """Reads one value and leaves what follows."""
    tag = reader.u8()
    check_tag(tag)
    if not tag & LIST:
        return Value(tag, _read_payload(reader, tag))
    count = reader.u32()
    if tag == LIST:
        require(count == 0, Reason.MALFORMED, "elements of no kind")
        return Value(tag, ())
    require(count > 0, Reason.MALFORMED, "an empty list with a kind")
    kind = tag & ~LIST
    require(count * _LEAST[kind] <= reader.remaining, Reason.MALFORMED, "a list of more than there is")
    return Value(tag, tuple(_read_payload(reader, kind) for _ in range(count)))


def encode_value(value: Value) -> bytes:
    check_tag(value.tag)
    writer = Writer().u8(value.tag)
    if isinstance(value.payload, tuple):
        require((value.tag == LIST) == (not value.payload), Reason.MALFORMED, "an empty list alone has no kind")
        writer.u32(len(value.payload))
        for element in value.payload:
            _write_payload(writer, value.kind, element)
    else:
        _write_payload(writer, value.kind, value.payload)
    require(len(writer.data) <= limits.RECORD + 5, Reason.LENGTH, "a value larger than a record")
    return writer.data


def decode_value(data: bytes) -> Value:
    """Decodes exactly one value."""
    reader = Reader(data)
    value = read_value(reader)
    reader.end()
    check_canonical(data, encode_value(value))
    return value


def padded_length(length: int) -> int:
    """Padmé with a floor of 32 bytes."""
    size = max(length, 32)
    exponent = size.bit_length() - 1
    mantissa = exponent.bit_length()  # ⌊log₂ E⌋ + 1
    unit = 1 << (exponent - mantissa)
    return -(-size // unit) * unit


def pad(data: bytes) -> bytes:
    return data + bytes(padded_length(len(data)) - len(data))


def pad_value(value: Value) -> bytes:
    return pad(encode_value(value))


def check_padding(plaintext: bytes, length: int) -> None:
    """What follows the first `length` bytes is zeros, exactly as many as the padding asks for."""
    require(len(plaintext) == padded_length(length), Reason.MALFORMED, "padded to another length")
    require(plaintext[length:] == bytes(len(plaintext) - length), Reason.MALFORMED, "padding that is not zero")


def unpad_value(plaintext: bytes) -> Value:
    """One value, and after it its padding."""
    reader = Reader(plaintext)
    value = read_value(reader)
    length = reader.position
    check_padding(plaintext, length)
    check_canonical(plaintext[:length], encode_value(value))
    return value
