"""JSON as vectors, exports and key files may have it: no key twice, no fractions."""

from __future__ import annotations

import json
from typing import Any


class NotStrict(ValueError):
    """A JSON text that we do not take."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise NotStrict("a key twice in an object")
    return result


def _refuse(text: str) -> Any:
    raise NotStrict("a number that is no integer")


def parse(data: bytes) -> Any:
    try:
        text = data.decode("utf-8")
        return json.loads(text, object_pairs_hook=_object, parse_float=_refuse, parse_constant=_refuse)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise NotStrict(f"no JSON: {type(error).__name__}") from None


def line(value: object) -> str:
    """One line of JSON in which every control character and everything beyond ASCII is escaped."""
    return json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f")
