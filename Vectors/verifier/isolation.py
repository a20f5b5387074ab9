"""`--isolation`: which invalid tests would still be refused if the check that refuses them were not there.

Such a test does not show that an implementation has that check. A check is switched off by what it says; one
that cannot be (what does not open leaves nothing to go on with) counts as isolated, and so does what a client
doubts: its verdict is compared like any output.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from . import checks
from .errors import Disagreement, Refused, switched_off
from .registry import CHECKS, Case
from .vectorfile import Fields, Group, Test, load


def _outcome(run: Callable[[], None]) -> Refused | str | None:
    """A refusal; a word for another end; None if the test goes through, or gives something else."""
    try:
        run()
    except Refused as refusal:
        return refusal
    except Disagreement:
        return None
    except Exception as error:  # going on without a check can lead anywhere
        return type(error).__name__
    return None


def second_cause(file: str, group: Group, test: Test) -> tuple[Refused, Refused | str] | None:
    """Why an invalid test is refused, and why it is still without that check; None if it is isolated."""

    def run() -> None:
        CHECKS[(file, group.type)](Case(Fields(test.fields), Fields(group.shared), False))

    first = _outcome(run)
    if not isinstance(first, Refused):
        return None  # the ordinary run reports it
    with switched_off(first):
        second = _outcome(run)
    if second is None or (isinstance(second, Refused) and str(second) == str(first)):
        return None
    return first, second


def run_isolation(folder: Path) -> int:
    checks.load_all()
    count = total = 0
    for path in sorted(folder.glob("*.json")):
        for group in load(path):
            for test in group.tests:
                if test.valid or (path.stem, group.type) not in CHECKS:
                    continue
                total += 1
                found = second_cause(path.stem, group, test)
                if found is not None:
                    count += 1
                    print(f"{path.stem} {test.id} ({test.comment}): {found[0]}; without it {found[1]}")
    print(f"{total} invalid tests, {count} with a second cause")
    return 0
