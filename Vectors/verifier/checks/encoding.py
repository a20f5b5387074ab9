"""pae.json, values.json, padding.json, fields.json."""

from __future__ import annotations

import hashlib

from .. import notation, values
from ..errors import Disagreement
from ..fields import Field, fields_digest
from ..labels import NAMES, PREFIX
from ..registry import Case, check
from ..valuejson import value_json
from .common import value_of


@check("pae", "Encode")
def encode(case: Case) -> None:
    case.fields.expect("encoded", notation.pae(*case.fields.hexes("pieces")))


@check("pae", "Hash")
def hash_(case: Case) -> None:
    label = case.fields.text("label")
    name = label.removeprefix(PREFIX)
    if not label.startswith(PREFIX) or name not in NAMES:
        raise Disagreement("a label that is not in PROTOCOL.md")
    pieces = case.fields.hexes("pieces")
    case.fields.expect("hash", notation.hash_(name, *pieces))
    case.fields.expect("derived", notation.kdf(case.fields.hex("key"), name, *pieces))
    case.fields.expect("sha256", notation.sha(name, *pieces))
    # The primitive once more without the helpers that everything else here relies on.
    bare = hashlib.blake2b(notation.pae(label.encode(), *pieces), digest_size=32).digest()
    case.fields.expect("hash", bare)


@check("values", "ValueCoding")
def value_coding(case: Case) -> None:
    encoded = case.fields.hex("encoded")
    value = values.decode_value(encoded)
    case.fields.expect("value", value_json(value))
    case.fields.expect("encoded", values.encode_value(value_of(case.fields.child("value"))))


@check("padding", "PaddedLength")
def padded_length(case: Case) -> None:
    case.fields.expect("padded", values.padded_length(case.fields.number("size")))


@check("padding", "PaddedValue")
def padded_value(case: Case) -> None:
    fields = case.fields
    value = values.unpad_value(fields.hex("plaintext"))
    fields.expect("value", value_json(value))
    fields.expect("plaintext", values.pad_value(value))


@check("fields", "FieldDigest")
def field_digest(case: Case) -> None:
    fields = case.fields
    field = Field(fields.text("name"), fields.small("class"), fields.small("type"), fields.hex("stored"))
    fields.expect("digest", field.digest)


@check("fields", "FieldSet")
def field_set(case: Case) -> None:
    pairs = [(field.text("name"), field.hex("digest")) for field in case.fields.children("fields")]
    case.fields.expect("digest", fields_digest(pairs))
