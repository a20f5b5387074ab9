"""Reading vector files: their shape (schema/vectors.json), and a test's fields.

`Fields` remembers what was looked at, so that a valid test with a field that nobody checked is noticed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import strictjson
from .errors import Disagreement

_HEX = re.compile(r"(?:[0-9a-f]{2})*\Z")
_DECIMAL = re.compile(r"(?:0|-?[1-9][0-9]*)\Z")


class Fields:
    """A JSON object of a vector, read by kind."""

    def __init__(self, values: dict[str, Any], place: str = "") -> None:
        self._values = values
        self._place = place
        self._used: set[str] = set()
        self._children: list[Fields] = []

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def raw(self, name: str) -> Any:
        if name not in self._values:
            raise Disagreement(f"{self._place}{name}: not in the vector")
        self._used.add(name)
        return self._values[name]

    def _of(self, name: str, kind: type) -> Any:
        value = self.raw(name)
        if type(value) is not kind:
            raise Disagreement(f"{self._place}{name}: not of the kind that it should be")
        return value

    def text(self, name: str) -> str:
        return str(self._of(name, str))

    def hex(self, name: str) -> bytes:
        return self._parse_hex(name, self.text(name))

    def _parse_hex(self, name: str, text: Any) -> bytes:
        if not isinstance(text, str) or not _HEX.match(text):
            raise Disagreement(f"{self._place}{name}: no lower-case hex")
        return bytes.fromhex(text)

    def hexes(self, name: str) -> list[bytes]:
        return [self._parse_hex(name, text) for text in self._of(name, list)]

    def number(self, name: str) -> int:
        """A 64-bit number, written as a decimal string."""
        text = self.text(name)
        if not _DECIMAL.match(text):
            raise Disagreement(f"{self._place}{name}: no decimal number")
        return int(text)

    def small(self, name: str) -> int:
        """A number written as JSON's."""
        return int(self._of(name, int))

    def small_list(self, name: str) -> list[int]:
        values = self._of(name, list)
        if any(type(value) is not int for value in values):
            raise Disagreement(f"{self._place}{name}: no list of numbers")
        return list(values)

    def texts(self, name: str) -> list[str]:
        values = self._of(name, list)
        if any(type(value) is not str for value in values):
            raise Disagreement(f"{self._place}{name}: no list of strings")
        return list(values)

    def child(self, name: str) -> Fields:
        return self._child(self._of(name, dict), f"{self._place}{name}.")

    def children(self, name: str) -> list[Fields]:
        return [self._child(v, f"{self._place}{name}[{i}].") for i, v in enumerate(self._of(name, list))]

    def _child(self, values: Any, place: str) -> Fields:
        if type(values) is not dict:
            raise Disagreement(f"{place}: no object")
        child = Fields(values, place)
        self._children.append(child)
        return child

    def expect(self, name: str, actual: object) -> None:
        """An output: what we found has to be what the vector says."""
        given: object
        if isinstance(actual, bytes):
            given = self.hex(name)
        elif isinstance(actual, bool):
            given = self._of(name, bool)
        elif isinstance(actual, int):
            given = self.number(name) if isinstance(self.raw(name), str) else self.small(name)
        else:
            given = self.raw(name)
        if given != actual:
            raise Disagreement(f"{self._place}{name}: we find something else")

    def unused(self) -> Iterator[str]:
        for name in self._values:
            if name not in self._used:
                yield self._place + name
        for child in self._children:
            yield from child.unused()


@dataclass(frozen=True)
class Test:
    id: int
    comment: str
    valid: bool
    reason: str | None
    fields: dict[str, Any]


@dataclass(frozen=True)
class Group:
    type: str
    shared: dict[str, Any]
    tests: tuple[Test, ...]


_FILE = {"algorithm", "schema", "generatorVersion", "numberOfTests", "header", "notes", "testGroups"}
_TEST = {"tcId", "comment", "flags", "result", "fields"}


def load(path: Path) -> list[Group]:
    """A vector file's groups. Refuses one that has not the shape of schema/vectors.json."""
    try:
        document = strictjson.parse(path.read_bytes())
        return _groups(document)
    except (OSError, strictjson.NotStrict) as error:
        raise Disagreement(f"unreadable: {error}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise Disagreement(f"not of the vectors' shape ({type(error).__name__})") from None


def _shape(condition: bool, what: str) -> None:
    if not condition:
        raise Disagreement(f"not of the vectors' shape: {what}")


def _groups(document: dict[str, Any]) -> list[Group]:
    _shape(set(document) == _FILE, "the file's keys")
    _shape(document["schema"] == "schema/vectors.json", "the schema")
    groups = []
    for group in document["testGroups"]:
        _shape(set(group) == {"type", "shared", "tests"}, "a group's keys")
        _shape(type(group["shared"]) is dict and len(group["tests"]) > 0, "a group")
        groups.append(Group(group["type"], group["shared"], tuple(_test(t, document["notes"]) for t in group["tests"])))
    ids = [test.id for group in groups for test in group.tests]
    _shape(ids == list(range(1, len(ids) + 1)), "tests that do not count from 1")
    _shape(document["numberOfTests"] == len(ids) > 0, "the number of tests")
    return groups


def _test(test: dict[str, Any], notes: dict[str, str]) -> Test:
    _shape(_TEST <= set(test) <= _TEST | {"reason"}, "a test's keys")
    _shape(test["result"] in ("valid", "invalid"), "a test's result")
    _shape(set(test["flags"]) <= set(notes), "a flag without a note")
    _shape(type(test["fields"]) is dict, "a test's fields")
    return Test(test["tcId"], test["comment"], test["result"] == "valid", test.get("reason"), test["fields"])
