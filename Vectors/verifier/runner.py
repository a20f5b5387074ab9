"""Runs every test of a folder, and skips nothing silently."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from . import checks, reasons
from .errors import Disagreement, Refused, crash
from .registry import CHECKS, Case, known_files
from .vectorfile import Fields, Group, Test, load

# What a folder of vectors holds beside them.
_OTHERS = {
    "PROTOCOL.md", "PROTOCOL-PROCEDURES.md", "PROTOCOL-TRANSPORT.md", "FILES.md", "PUBLISHED.md", "README.md",
    "check_protocol.py", "check_transport.py", "example.py", "verify.py", "requirements.txt", "schema", "verifier",
}


@dataclass
class Report:
    """What one file came to."""

    tests: int = 0
    disagreements: list[str] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)  # refused, but for another cause than meant


def run_test(file: str, group: Group, test: Test, report: Report) -> str | None:
    """None if we agree, otherwise what is wrong."""
    fields, shared = Fields(test.fields), Fields(group.shared, "shared.")
    try:
        CHECKS[(file, group.type)](Case(fields, shared, test.valid))
    except Refused as refusal:
        if test.valid:
            return f"valid, but we refuse it ({refusal})"
        if reasons.unexpected(file, test.comment, test.reason, refusal.reason):
            report.causes.append(f"{test.id} ({test.comment}): says {test.reason}, we say {refusal}")
        return None
    except Disagreement as disagreement:
        return str(disagreement)
    except Exception as error:  # a crash must never pass for a refusal
        return crash(error)
    if not test.valid:
        return "invalid, but we accept it"
    unused = [*fields.unused(), *shared.unused()]
    return f"not checked: {', '.join(unused)}" if unused else None


def run_file(path: Path) -> Report:
    report = Report()
    file = path.stem
    try:
        groups = load(path)
    except Disagreement as disagreement:
        report.disagreements.append(str(disagreement))
        return report
    for group in groups:
        report.tests += len(group.tests)
        if (file, group.type) not in CHECKS:
            report.disagreements.append(f"an unknown type of group: {group.type!r}")
            continue
        for test in group.tests:
            problem = run_test(file, group, test, report)
            if problem is not None:
                report.disagreements.append(f"{test.id} ({test.comment}): {problem}")
    present = {group.type for group in groups}
    for known, group_type in CHECKS:
        if known == file and group_type not in present:
            report.disagreements.append(f"no group of type {group_type!r}")
    return report


def run_folder(folder: Path, show_causes: bool) -> int:
    """Prints a line a file and a closing total; the process's exit code."""
    checks.load_all()
    total_tests = total_disagreements = 0
    names = {path.name for path in folder.iterdir() if not path.name.startswith((".", "__pycache__"))}
    files = {name.removesuffix(".json") for name in names if name.endswith(".json")}
    strangers = sorted(names - {f"{file}.json" for file in files} - _OTHERS)
    for name in strangers:
        print(f"{name}: an unknown file in the folder")
    causes: list[str] = []
    for file in sorted(files | known_files()):
        if file not in known_files():
            print(f"{file}: an unknown file of vectors")
            total_disagreements += 1
            continue
        report = run_file(folder / f"{file}.json")
        count = len(report.disagreements)
        print(f"{file}: {report.tests} tests, " + (f"{count} disagreements" if count else "all agree"))
        for problem in report.disagreements:
            print(f"  {problem}")
        causes += [f"{file} {cause}" for cause in report.causes]
        total_tests += report.tests
        total_disagreements += count
    total_disagreements += len(strangers)
    if show_causes:
        print(f"{len(causes)} refused for another cause than the vectors' reason")
        for cause in causes:
            print(f"  {cause}")
    print(f"{len(files)} files, {total_tests} tests, {total_disagreements} disagreements")
    return 1 if total_disagreements else 0
