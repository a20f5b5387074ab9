"""Which function checks which group of which file.

A check reads a test's inputs, does what an implementation would (which refuses, in an invalid test), and
then compares every output with `Fields.expect`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .vectorfile import Fields


@dataclass(frozen=True)
class Case:
    """One test as a check sees it."""

    fields: Fields
    shared: Fields
    valid: bool


Check = Callable[[Case], None]

CHECKS: dict[tuple[str, str], Check] = {}


def check(file: str, group: str) -> Callable[[Check], Check]:
    """Registers a check for the groups of a type in a file."""

    def register(function: Check) -> Check:
        if (file, group) in CHECKS:
            raise AssertionError(f"two checks for {file}, {group}")
        CHECKS[(file, group)] = function
        return function

    return register


def known_files() -> set[str]:
    return {file for file, _ in CHECKS}
