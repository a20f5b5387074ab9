#!/usr/bin/env python3
"""Checks that what the models cite of the protocol is there.

    ./check-titles.py [FOLDER]     FOLDER has the protocol's pages, where that is not Vectors

A model names what it models by the titles of the protocol's pages (Vectors/PROTOCOL*.md), in comments of this one form:

    (* PROTOCOL.md: "Grants", "Epoch keys" *)

A title is a heading of any level, without a number before it, or the bold words that begin a paragraph, without the full stop.
Every title has to be there, every model has to cite at least one, and none says "section 6": numbers move, and nobody notices.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = HERE.parent / "Vectors"
HEADING = re.compile(r"^#{1,6} +(?:\d+(?:\.\d+)*\.? +)?(.+?) *#* *$")
BOLD = re.compile(r"^\*\*(.+?)[.:]?\*\*")
CITATION = re.compile(r'\(\* *PROTOCOL\.md: *((?:"[^"]+"[, ]*)+)\*\)', re.S)
ANY_CITATION = re.compile(r"PROTOCOL[\w.-]*\.md *:")
NUMBERED = re.compile(r"\bsections? \d|§ ?\d", re.I)


def titles(text):
    """The titles of a page; those in a code block are none."""
    found, fenced = set(), False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and (match := HEADING.match(line) or BOLD.match(line)):
            found.add(re.sub(r"[`*]", "", match[1]))
    return found


def faults(name, text, known):
    """What is wrong with the citations of one file, and how many it has."""
    found = []
    citations = CITATION.findall(text)
    cited = [" ".join(title.split()) for citation in citations for title in re.findall(r'"([^"]+)"', citation)]
    if not cited:
        found.append("cites nothing of the protocol")
    if len(ANY_CITATION.findall(text)) != len(citations):
        found.append('has a citation in another form than (* PROTOCOL.md: "Title", "Title" *)')
    found += [f'cites "{title}", which is no title of Vectors/PROTOCOL*.md' for title in cited if title not in known]
    found += [f"line {text[: match.start()].count(chr(10)) + 1} cites a section by number" for match in NUMBERED.finditer(text)]
    return [f"{name}: {fault}" for fault in found], len(cited)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else VECTORS
    known = set()
    for page in sorted(folder.glob("PROTOCOL*.md")):
        known |= titles(page.read_text(encoding="utf-8"))
    models = sorted(HERE.glob("*.pv")) + sorted(HERE.glob("*.pvl"))
    if not known or not models:
        print(f"no pages in {folder}, or no models in {HERE}", file=sys.stderr)
        return 1
    wrong, count = [], 0
    for model in models:
        found, cited = faults(model.name, model.read_text(encoding="utf-8"), known)
        wrong += found
        count += cited
    for fault in wrong:
        print(fault)
    print(f"{len(models)} files, {count} citations, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
