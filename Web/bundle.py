#!/usr/bin/env python3
"""Packs the web client: Web/bundle.py CLIENT MODULE OUT, with the folder of its sources, and the core's module.

OUT/bundle is the archive: the text `sealkit web bundle 1`, the hash of the manifest, the number of files, and of each its name, type,
SHA-256, its bytes, the same by gzip and by brotli; text and bytes behind their LE32 length. OUT/manifest.txt is the manifest: of each
file a line with its hash, its type and its name, ascending by name. No source is changed on the way, but that scripts go without their
comments, that modules which run together are one script (`Joining`), that routes which none of them names are left out (`routes`), and
for what only packing knows: `{integrity NAME}` in the page, and bundle.mjs, which is written here.
"""

import base64
import gzip
import hashlib
import pathlib
import re
import subprocess
import sys

# What may travel to somebody who opens a share, until its records are shown: by brotli, in bytes. What few come to is loaded once they do.
LIMIT = 330_000
TYPES = {
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
}
PAGE = "share.html"
# The scripts that a browser starts with, each of which has the modules that it imports in it: the page, and its workers.
FIRST = ("share.mjs", "core.worker.mjs", "passphrase.worker.mjs")
# Every route that there is, by its name.
ROUTES = "routes.mjs"
# Those that the page loads when they are asked for. What is in the page's script already they have from there.
LATER = ("afterwards.mjs", "changes.mjs")


def integrity(data: bytes) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode()


def brotli(data: bytes) -> bytes:
    return subprocess.run(["brotli", "--best", "--stdout", "-"], input=data, stdout=subprocess.PIPE, check=True).stdout


def script(source: bytes) -> str:
    """A script without its comments, empty lines, and blanks and ends of lines that part nothing: these are for whoever reads the source.
    No text goes over several lines, and comments behind code stay. Tests/Web/bundle.test.mjs holds what is left against the source."""
    text = re.sub(r"^[ \t]*/\*\*(?:[^*]|\*(?!/))*\*/[ \t]*$", "", source.decode(), flags=re.M)
    text = re.sub(r"^[ \t]*//.*$", "", text, flags=re.M)
    text = re.sub(r"/\*\* @(?:type|param) [^*\n]*\*/ ?", "", text)
    text = re.sub(r"^[ \t\n]+", "", text, flags=re.M)
    lines = text.splitlines(keepends=True)
    made = ""
    for line, following in zip(lines, [*lines[1:], ""]):
        # What is imported, and exported by its name, is read as it stands (`Joining`).
        if not re.match(r"import |export \{", line):
            line = closed_up(line)
            if not re.match(r"import |export |$", following) and "//" not in line:
                line = re.sub(r"(?<=[;{}])\n$", "", line)
        made += line
    return made


# Texts, templates, and what is looked for by a pattern: whatever blanks are in these, they stay.
OPAQUE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|//.*|/\*.*?\*/|(?:(?<=[(,=:[!&|?{};])|(?<==>)|(?<=[(,=:[!&|?{};] )|(?<==> ))"""
                    r"""/(?:[^/\\[\n]|\\.|\[(?:[^\]\\]|\\.)*\])+/""")
BLANK = re.compile(r"""(?<=[(){}\[\];,:?=<>&|!'"`]) | (?=[(){}\[\];,:?=<>&|!'"`])|(?<![+-]) (?=[+-])|(?<=[+-]) (?![+-])""")


def closed_up(line: str) -> str:
    """A line of a script without the blanks beside what parts words by itself."""
    made, left = "", 0
    while left < len(line):
        found = OPAQUE.search(line, left)
        template = line.find("`", left)
        if template >= 0 and (not found or template < found.start()):
            start, end = template, template_end(line, template)
        elif found:
            start, end = found.span()
        else:
            start = end = len(line)
        # A blank at the edge has its neighbour there.
        edge = line[max(left - 1, 0):start + 1]
        shut = BLANK.sub("", edge)
        made += shut[min(left, 1):len(shut) - (1 if start < len(line) else 0)] + line[start:end]
        left = end
    return made


def template_end(line: str, start: int) -> int:
    """Where a template ends that begins there, with those that are filled into it."""
    place = start + 1
    while line[place] != "`":
        if line.startswith("${", place):
            depth, place = 1, place + 2
            while depth > 0:
                if line[place] == "`":
                    place = template_end(line, place)
                    continue
                depth += {"{": 1, "}": -1}.get(line[place], 0)
                place += 1
        else:
            place += 2 if line[place] == "\\" else 1
    return place + 1


def sheet(source: bytes) -> bytes:
    """Styles without the blanks that part nothing."""
    text = re.sub(r"^[ \t\n]+", "", source.decode(), flags=re.M)
    return re.sub(r"(?<=:) | ?([{};,])[ \n]?", r"\1", text).encode()


def routes(modules: "dict[str, str]") -> str:
    """Of the table of routes what the page asks for: the library is packed with all of it. A route's name stands in a script as it is, or
    its beginning does, before what is filled in."""
    said = "".join(text for name, text in modules.items() if name != ROUTES)
    names = set(re.findall(r"'([a-z/-]+)'", said))
    beginnings = tuple(re.findall(r"`([a-z-]+/)\$\{", said))
    return re.sub(
        r"'([a-z/-]+)':\{.*\n", lambda route: route[0] if route[1] in names or route[1].startswith(beginnings) else "", modules[ROUTES])


class Joining:
    """The modules of the client as scripts, of which a browser asks for few: a request costs it more than what most modules say.

    A script begins with what it imports, each module in a function of its own, whose text is the source's but for lines of two kinds:
    `import { a } from './b.mjs';` is `const { a } = modules['b.mjs'];`, and `export` is gone, since its function returns what it exported.
    What the script is called after stands at its end, in no function. Tests/Web/bundle.test.mjs takes that apart again.
    """

    IMPORT = re.compile(r"^import (?:\* as (\w+)|(\{[^{}\n]*\})) from '\./([a-z.]+)';$", re.M)
    EXPORT = re.compile(r"^export (?=(?:const|class|function\*?|async function\*?) (\w+)\b)", re.M)
    NAMED = re.compile(r"^export \{ (\w+(?:, \w+)*) \};$", re.M)

    def __init__(self, modules: "dict[str, str]", waiting: "set[str]"):
        """`waiting`: those that are there once something has come."""
        self.modules, self.waiting = modules, waiting

    def imported(self, name: str) -> "list[str]":
        """What a module imports, and what that does, in the order in which it runs."""
        found: "list[str]" = []
        for one in (match[3] for match in self.IMPORT.finditer(self.modules[name])):
            found += [inner for inner in (*self.imported(one), one) if inner not in found]
        return found

    def script(self, name: str, there: "tuple[str, ...]" = ()) -> str:
        """With `there`, what the page's script has in it, a script that the page loads."""
        scripts = (*FIRST, *LATER)
        mine = [one for one in self.imported(name) if one not in there and one not in scripts]
        text = self.having(name, scripts)
        if there:
            start = f"import {{ modules }} from './{FIRST[0]}';\n"
        else:
            start = "const modules = {};\n" if mine else ""
            if name == FIRST[0]:
                text += "export { modules };\n"
        return start + "".join(self.within(one, scripts) for one in mine) + text

    def having(self, name: str, scripts: "tuple[str, ...]") -> str:
        """A module that has what it imports."""
        def had(match: "re.Match[str]") -> str:
            whole, some, other = match.groups()
            if other in scripts:
                return match[0]
            return f"const {whole or some.replace(' as ', ': ')} = modules['{other}'];"

        return self.IMPORT.sub(had, self.modules[name])

    def within(self, name: str, scripts: "tuple[str, ...]") -> str:
        """A module as a function that gives what it exports."""
        text = self.having(name, scripts)
        exported = self.EXPORT.findall(text) + [one for names in self.NAMED.findall(text) for one in names.split(", ")]
        text = self.NAMED.sub("", self.EXPORT.sub("", text))
        if left := re.search(r"^(?:im|ex)port\b.*", text, re.M):
            sys.exit(f"bundle: {name} has a line that is joined with no other module: {left[0]}")
        wait, kind = ("await ", "async ") if name in self.waiting else ("", "")
        return f"modules['{name}'] = {wait}({kind}() => {{\n{text}return {{ {', '.join(exported)} }};\n}})();\n"

    def scripts(self) -> "dict[str, str]":
        page = tuple(self.imported(FIRST[0]))
        made = {name: self.script(name) for name in FIRST} | {name: self.script(name, page) for name in LATER}
        used = {*made, *(one for name in made for one in self.imported(name))}
        # What no other module imports is loaded by its name, as the texts of a language are.
        return made | {name: text for name, text in self.modules.items() if name not in used}


def blob(data: bytes) -> bytes:
    return len(data).to_bytes(4, "little") + data


def main() -> None:
    client, module, out = (pathlib.Path(argument) for argument in sys.argv[1:])
    files = {path.name: path.read_bytes() for path in client.iterdir() if path.suffix in TYPES}
    files |= {name: sheet(data) for name, data in files.items() if name.endswith(".css")}
    waiting = {name for name, data in files.items() if re.search(rb"^(?:const [^=\n]*= )?await ", data, re.M) and name.endswith(".mjs")}
    modules = {name: script(files.pop(name)) for name in sorted(files) if name.endswith(".mjs")}
    files["core.wasm"] = module.read_bytes()
    modules[ROUTES] = routes(modules)
    modules["bundle.mjs"] = f"export const moduleIntegrity = '{integrity(files['core.wasm'])}';\n"
    files |= {name: text.encode() for name, text in Joining(modules, waiting).scripts().items()}
    named = set()

    def fill(match: "re.Match[str]") -> str:
        named.add(match[1])
        return integrity(files[match[1]])

    files[PAGE] = re.sub(r"\{integrity ([a-z.]+)\}", fill, files[PAGE].decode()).encode()
    # What the page's scripts import is held against a hash before it runs, too, also of those that are loaded later.
    page = set().union(*(imports(files, name) for name in named if name.endswith(".mjs")))
    if page - named:
        sys.exit(f"bundle: {PAGE} names no hash of {', '.join(sorted(page - named))}")

    manifest, body, sizes = [], [], {}
    for name in sorted(files):
        data, kind = files[name], TYPES[pathlib.Path(name).suffix]
        digest = hashlib.sha256(data)
        manifest.append(f"{digest.hexdigest()} {kind} {name}\n")
        small, smallest = gzip.compress(data, 9, mtime=0), brotli(data)
        sizes[name] = len(smallest)
        body += [blob(name.encode()), blob(kind.encode()), digest.digest(), blob(data), blob(small), blob(smallest)]
    text = "".join(manifest).encode()
    head = blob(b"sealkit web bundle 1") + hashlib.sha256(text).digest() + len(files).to_bytes(4, "little")
    out.mkdir(parents=True, exist_ok=True)
    (out / "manifest.txt").write_bytes(text)
    archive = head + b"".join(body)
    if not (out / "bundle").exists() or (out / "bundle").read_bytes() != archive:
        (out / "bundle").write_bytes(archive)
    # Of the languages a reader gets one.
    languages = {name for name in files if re.fullmatch(r"texts\.[a-z]+\.mjs", name)}
    first = set().union(*(imports(files, name) for name in FIRST)) | {name for name in files if not name.endswith(".mjs")}
    rest = set(files) - first - languages
    total = sum(sizes[name] for name in first) + max(sizes[name] for name in languages)
    print(
        f"web: {len(files)} files, {total} bytes by brotli until a reader sees the records, {sizes['core.wasm']} of them the core, and "
        f"{sum(sizes[name] for name in rest)} after that; SHA-256 of the manifest {hashlib.sha256(text).hexdigest()}")
    if total > LIMIT:
        sys.exit(f"bundle: what travels may be {LIMIT} bytes by brotli")


def imports(files: "dict[str, bytes]", name: str) -> "set[str]":
    found, left = set(), [name]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += re.findall(r"from '\./([a-z.]+)'", files[one].decode())
    return found


main()
