#!/usr/bin/env python3
"""Holds PROTOCOL-TRANSPORT.md against the server's sources: routes, error codes, limits, messages; and its references.

    Vectors/check_transport.py            exit status 1, with what differs, where the page is not true any more

It reads Swift as text: each `router.post("…")`, and each such call on a `let group = router.group(…)`. A registration that it
cannot read is an error too, so that nothing is passed over. Nothing but Python's standard library is needed.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "Vectors" / "PROTOCOL-TRANSPORT.md"
PROTOCOL = ROOT / "Vectors" / "PROTOCOL.md"
SERVER = ROOT / "Sources" / "SealServer"
WIRE = ROOT / "Sources" / "SealWire"
LIMITS = ROOT / "Sources" / "SealKit" / "Documentation.docc" / "Limits.md"
METHODS = ("get", "head", "post", "put", "patch", "delete", "options")

ROUTE = re.compile(r"\| `([A-Z]+)` \| `([^`]+)` \|")
TOKEN = re.compile(r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.S)


def swift(path):
    """A source without its comments."""
    return TOKEN.sub(lambda found: "" if found[0].startswith("/") else found[0], path.read_text(encoding="utf-8"))


def joined(*parts):
    return "/" + "/".join(piece for part in parts for piece in part.split("/") if piece)


def constants(sources):
    """`static let route = RouterPath("…")`, by `Type.route`, for each type of its file."""
    found = {}
    for text in sources.values():
        paths = re.findall(r'\bstatic\s+let\s+(\w+)\s*=\s*RouterPath\("([^"\\]*)"\)', text)
        found.update({f"{kind}.{name}": path for kind in types(text) for name, path in paths})
    return found


def types(text):
    return re.findall(r"\b(?:struct|class|enum)\s+(\w+)", text)


def path_of(expression, known, kind):
    """What a literal or a constant stands for; None where it is neither."""
    expression = expression.strip()
    if literal := re.fullmatch(r'"([^"\\]*)"', expression):
        return literal[1]
    return known.get(expression.replace("Self.", f"{kind}."))


def served(errors):
    """Every route that a controller registers, as "METHOD /path"."""
    sources = {path: swift(path) for path in sorted(SERVER.rglob("*.swift"))}
    known, routes = constants(sources), set()
    for path, text in sources.items():
        if "func addRoutes(to router" not in text or path.name == "Controllers.swift":
            continue
        kind, before = (types(text) or [""])[0], len(routes)
        groups = {"router": ""}
        for name, base, chain in re.findall(r"\blet\s+(\w+)\s*=\s*(\w+)((?:\s*\.group\([^()]*\))+)", text):
            parts = [path_of(part, known, kind) for part in re.findall(r"\.group\(([^()]*)\)", chain)]
            if base not in groups or None in parts:
                errors.append(f"{path.relative_to(ROOT)}: the group {name} cannot be read")
                continue
            groups[name] = joined(groups[base], *parts)
        for name, call, argument in re.findall(r'\b(\w+)\s*\.\s*(\w+)\(\s*("[^"]*"|[^(){},]*)', text):
            if name not in groups or call in ("group", "add"):
                continue
            route = path_of(argument, known, kind)
            if call not in METHODS or route is None:
                errors.append(f"{path.relative_to(ROOT)}: {name}.{call}({argument}) cannot be read")
                continue
            routes.add(f"{call.upper()} {joined(groups[name], route)}")
        if len(routes) == before:
            errors.append(f"{path.relative_to(ROOT)}: no route was found in it")
    return routes


def told(page, errors):
    """Every route in the page's tables."""
    shorthands = dict(re.findall(r"`(\{[a-z]+\})` stands for\s+`(/[^`]+)`", page))
    routes = []
    for method, path in (row.groups() for row in map(ROUTE.match, page.split("\n")) if row):
        for short, whole in shorthands.items():
            if path.startswith(short):
                path = whole + path[len(short):]
        routes.append(f"{method} {path}")
    errors.extend(f"the page has {route} twice" for route in sorted(set(routes)) if routes.count(route) > 1)
    return set(routes)


def codes(errors):
    """Each error code with its HTTP status."""
    text = swift(WIRE / "ErrorCode.swift")
    names = re.findall(r"^    case (\w+)$", text, re.M)
    statuses = {}
    for group, status in re.findall(r"case ((?:\.\w+,?\s*)+):\s*(\d{3})", text):
        statuses.update({name: status for name in re.findall(r"\.(\w+)", group)})
    errors.extend(f"ErrorCode.swift: no status was found for {name}" for name in names if name not in statuses)
    return {f"{name} {statuses.get(name)}" for name in names}


def section(page, title):
    """The text below a heading, up to the next one of its rank or a higher one."""
    lines, rank, taken = page.split("\n"), 0, []
    for line in lines:
        heading = re.match(r"(#+) (.*)", line)
        if heading and rank and len(heading[1]) <= rank:
            break
        if heading and heading[2] == title:
            rank = len(heading[1])
        elif rank:
            taken.append(line)
    return "\n".join(taken)


def limits(text):
    """Rows of limits: name, default, unit and code."""
    return {" ".join(row) for row in re.findall(r"^\| `(\w+)` \| (\d+) \| ([^|]+?) \| (`\w+`|–) \|", text, re.M)}


def references(page, errors):
    """Each "Title" in quotation marks is a heading of the page; after "PROTOCOL.md," a heading there, or a paragraph's bold name."""
    own = set(re.findall(r"^#+ (.*)$", page, re.M))
    other = PROTOCOL.read_text(encoding="utf-8")
    known = {re.sub(r"^[\d.]+ ", "", title).strip(".* ") for title in re.findall(r"^#+ (.*)$|\*\*([^*\n]+)\*\*", other, re.M) for title in title}
    prose = re.sub(r"\s+", " ", re.sub(r"^ {4}.*$|`[^`\n]*`", " ", page, flags=re.M))
    for before, title, after in re.findall(r'(PROTOCOL\.md, )?"([A-Z][^"]*)"( in PROTOCOL\.md)?', prose):
        where, titles = ("PROTOCOL.md", known) if before or after else ("the page", own)
        if title not in titles:
            errors.append(f"{where} has no heading {title}, which the page refers to")


def compare(what, sources, page, errors):
    errors.extend(f"the page lacks the {what} {name}" for name in sorted(sources - page))
    errors.extend(f"there is no {what} {name}, which the page has" for name in sorted(page - sources))


def main():
    errors = []
    page = PAGE.read_text(encoding="utf-8")
    routes = served(errors)
    compare("route", routes, told(page, errors), errors)
    told_codes = re.findall(r"^\| `(\w+)` \| (\d{3}) \|", section(page, "Error codes"), re.M)
    compare("error code", codes(errors), {" ".join(row) for row in told_codes}, errors)
    rows = limits(section(page, "Limits"))
    # A test provokes each row of the SDK's page, with its number and code.
    compare("limit", limits(LIMITS.read_text(encoding="utf-8")), rows, errors)
    compare("limit", set(re.findall(r'\brow\(\s*"(\w+)"', swift(SERVER / "Limits" / "LimitTable.swift"))),
            {row.split(" ")[0] for row in rows}, errors)
    messages = {name for file in WIRE.glob("*.proto") for name in re.findall(r"^\s*message (\w+)", file.read_text(encoding="utf-8"), re.M)}
    cells = [row.split("|")[4] for row in page.split("\n") if ROUTE.match(row)]
    errors.extend(f"there is no message {name}, which the page has"
                  for name in sorted({name for cell in cells for name in re.findall(r"`(\w+)`", cell)} - messages))
    references(page, errors)
    for error in errors:
        print(error)
    print(f"{len(routes)} routes, {len(told_codes)} codes, {len(rows)} limits: "
          + (f"{len(errors)} differences" if errors else "the page is as the server is"))
    return 1 if errors or not (routes and told_codes and rows) else 0


if __name__ == "__main__":
    sys.exit(main())
