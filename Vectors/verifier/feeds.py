"""Procedures, "Read", step 6: whether what comes in parts leads on."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_REPEATS = 16


@dataclass(frozen=True)
class Part:
    kind: str  # records, recordsBesideOthers, zones, results
    start: bytes
    end: bytes
    more_coming: bool
    names: tuple[str, ...]
    versions: tuple[object, ...]  # of each name, all that is said of it


@dataclass
class Feed:
    """One way through it."""

    is_whole: bool
    names: set[str] = field(default_factory=set)
    versions: set[object] = field(default_factory=set)
    passed: set[bytes] = field(default_factory=set)
    repeats: int = 0
    last: Part | None = None

    def take(self, part: Part) -> bool:
        """False, and nothing of it counts, where it leads nowhere or was there before."""
        if part.more_coming and not self._leads_on(part):
            return False
        fresh = [version for version in part.versions if version not in self.versions]
        if part.kind == "zones":
            new_place = part.end not in self.passed and self.repeats < MOST_REPEATS
            if part.more_coming and not fresh and not new_place:
                return False
        elif len(fresh) < len(part.versions):
            return False
        elif part.kind != "results" and len(set(part.versions)) < len(part.versions):
            return False
        self._note(part, fresh)
        return True

    @staticmethod
    def _leads_on(part: Part) -> bool:
        has_no_room = part.kind == "recordsBesideOthers" and not part.versions
        if has_no_room and (part.start == part.end or part.start == b""):
            return True
        is_further = part.end not in (b"", part.start)
        return is_further and (bool(part.versions) or part.kind == "results")

    def _note(self, part: Part, fresh: list[object]) -> None:
        self.last = part
        if self.is_whole:
            self.names.update(part.names)
        if not part.more_coming:
            return
        if part.kind == "zones":
            self.repeats = 0 if fresh else self.repeats + 1
            self.passed.update((part.start, part.end))
        self.versions.update(part.versions)

    def came(self, name: str) -> bool:
        return name in self.names or (self.last is not None and name in self.last.names)


@dataclass
class Listing:
    """A list that is asked for in parts, each after the last of the one before."""

    order: str  # bytes, places or once
    last: str
    passed: set[str] = field(default_factory=set)

    def take(self, names: list[str], more_coming: bool) -> bool:
        """False where it goes back, or leads nowhere."""
        for name in names:
            if not self._leads_on(name):
                return False
            self.passed.add(name)
            self.last = name
        return bool(names) or not more_coming

    def _leads_on(self, name: str) -> bool:
        if self.order == "once":
            return name not in self.passed
        if self.order == "places":
            return int(name) > int(self.last)
        return name.encode() > self.last.encode()
