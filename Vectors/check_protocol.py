#!/usr/bin/env python3
"""Holds the protocol's pages against each other and against what cites them.

    check_protocol.py

- Titles are unique on a page, rule numbers everywhere; each number that is cited is a rule.
- Each link leads to a file; each title that sources or pages cite is a heading, or begins a paragraph in bold.
- Each label of the core and of the verifier has its row in "Labels"; each request named is a message of the wire.
- The worked example is what `example.py` computes.

The exit code is 0 only if all of it holds.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGES = ("PROTOCOL.md", "PROTOCOL-PROCEDURES.md", "PROTOCOL-TRANSPORT.md", "FILES.md", "PUBLISHED.md")
OURS = ("PROTOCOL.md", "PROTOCOL-PROCEDURES.md", "FILES.md", "PUBLISHED.md")
RULE = re.compile(r"\b[RP]-[A-Z]+-[0-9]+\b")
# `PROTOCOL.md, "Title"`, `PROTOCOL.md says under \"Title\"`, `(PROTOCOL.md, "One" and "Other")`: what is quoted near the name.
CITATION = re.compile(r"(PROTOCOL(?:-[A-Z]+)?|FILES|PUBLISHED)\.md(?:,| says)? ?(?:under |\()?\\?\"([A-Z][^\"\\]*)\\?\"")
SOURCES = (
    "Sources/**/*.swift", "Sources/**/*.proto", "Fuzz/**/*.swift", "Fuzz/*.md", "Tests/**/*.swift",
    "Vectors/verifier/**/*.py", "Examples/*.py", "README.md", "SECURITY.md", "Documentation/*/*.md", "Sources/*/Documentation.docc/*.md",
)


def without_code(text: str) -> str:
    """Without fenced blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def titles(text: str) -> list[str]:
    return re.findall(r"^#{2,} (.+)$", without_code(text), flags=re.MULTILINE)


def run_ins(text: str) -> set[str]:
    """What begins a paragraph or list item in bold."""
    return {match.rstrip(":.") for match in re.findall(r"^(?:- )?\*\*([^*]+)\*\*", without_code(text), flags=re.MULTILINE)}


def main() -> int:
    problems: list[str] = []
    texts = {page: (HERE / page).read_text(encoding="utf-8") for page in PAGES if (HERE / page).exists()}

    rules: dict[str, str] = {}
    for page, text in texts.items():
        seen: set[str] = set()
        for title in titles(text):
            if title in seen:
                problems.append(f"{page}: two sections are called “{title}”")
            seen.add(title)
        for rule in re.findall(r"\*\*([RP]-[A-Z]+-[0-9]+)\*\*", text):
            if rule in rules:
                problems.append(f"{page}: {rule} is a rule of {rules[rule]} already")
            rules[rule] = page
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            # The transport's page is a part of the protocol, and may come from elsewhere.
            if not (HERE / target).exists() and target not in PAGES:
                problems.append(f"{page}: links to {target}, which is not there")

    known = {page: set(titles(text)) | run_ins(text) for page, text in texts.items()}
    cited = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for glob in SOURCES for path in ROOT.glob(glob)
             if ".build" not in path.parts and not path.name.endswith(".pb.swift")}
    for name, text in (cited | {f"Vectors/{page}": texts[page] for page in texts}).items():
        for rule in RULE.findall(text):
            if rule not in rules:
                problems.append(f"{name}: cites {rule}, which is no rule")
        for page, title in CITATION.findall(text):
            if f"{page}.md" in known and title not in known[f"{page}.md"]:
                problems.append(f"{name}: cites “{title}” of {page}.md, which is no title there")
    everywhere = set().union(*known.values())
    for page in OURS:
        for title in re.findall(r"\(\"([A-Z][^\"\n]*)\"\)", without_code(texts[page])):
            if title not in everywhere:
                problems.append(f"{page}: cites “{title}”, which is no title")

    table = texts["PROTOCOL.md"].split("\n## Labels\n")[1].split("\n## ")[0]
    rows = set(re.findall(r"^\| `([a-z/-]+)` \|", table, flags=re.MULTILINE))
    core = (ROOT / "Sources/SealPrimitives/Labels.swift").read_text(encoding="utf-8")
    sys.path.insert(0, str(HERE))
    from verifier import labels

    for label in sorted((set(re.findall(r'"sealkit/1/([^"]+)"', core)) | labels.NAMES) - rows):
        problems.append(f"the label {label} has no row in “Labels”")
    wire = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("Sources/SealWire/*.proto"))
    messages = set(re.findall(r"^\s*message (\w+)", wire, flags=re.MULTILINE))
    for page in OURS:
        for message in sorted(set(re.findall(r"`([A-Z]\w+(?:Request|Response))\b", texts[page])) - messages):
            problems.append(f"{page}: names {message}, which is no message")

    import example

    if example.within(texts["PROTOCOL.md"]) != example.example():
        problems.append("PROTOCOL.md: the worked example is another one than example.py computes")

    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{len(texts)} pages, {len(rules)} rules, {len(rows)} labels: all agree")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
