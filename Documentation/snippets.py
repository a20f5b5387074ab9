#!/usr/bin/env python3
"""Compiles every Swift block of the pages and of the sources' documentation, and every step of the tutorials, against the modules that `swift build` has built.

    Documentation/snippets.py [PAGE …]

A block is the body of a function; what pages take for granted, a `database` or a `note`, is declared in given.swift, and `…` stands for
whatever else there would be. Where a block needs more, a comment of HTML's before it, which no reader sees, has it:

    <!-- swift: struct Notes { … } -->

`…` in it is the place of the block; without one the comment's code comes before it. Manifests import PackageDescription there. A block that has
tests or extensions is a file as it is. All of it is one module, or two with the manifests, and is compiled at once.
"""

import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUT = ROOT / ".build/docs/snippets"
PAGES = ("README.md", "Sources/*/Documentation.docc/*.md", "Documentation/*.docc/*.md", "Examples/*/README.md", "Web/library/README.md", "SECURITY.md")
# Examples in the sources' own documentation.
SOURCES = ("SealKit", "SealKitTesting", "CloudKit")
BLOCK = re.compile(r"(?:<!-- swift: ((?:(?!-->).)*?)\s*-->\s*\n)?^([ ]*)```swift\n(.*?)^[ ]*```", re.DOTALL | re.MULTILINE)
IMPORT = re.compile(r"(?:^|(?<=;))[ ]*(?:@testable )?(?:public )?import \w+[^\S\n]*(?:;|$)", re.MULTILINE)


def file_of(number, page, line, context, code):
    """A block as a file of Swift's, and whether it is a manifest."""
    before, place, after = (context or "").partition("…")
    imports = {each.strip(" ;") for each in IMPORT.findall(before) + IMPORT.findall(code)}
    before, code = IMPORT.sub("", before).strip(), IMPORT.sub("", code).replace("…", "elided()")
    manifest = "import PackageDescription" in imports
    if not manifest:
        imports |= {"import Foundation", "import SealKit"}
        if module := re.match(r"Sources/(\w+)/.*\.swift$", page):
            imports.add(f"import {module[1]}")
    if page.startswith("Documentation/") and page.endswith(".swift"):
        opening, closing = ("", "") if manifest else (f"enum Step{number} {{", "}")
    elif manifest or re.search(r"^\s*(@Test|@Suite|extension )", code, re.MULTILINE):
        opening = closing = ""
    else:
        opening, closing = f"func block{number}() async throws {{", "}"
    # Errors are told with the page's lines, which can be said between statements alone.
    here = f'#sourceLocation(file: "{page}", line: {line - bool(place)})'
    lines = [*sorted(imports), opening, *([here, before] if place else [before, here]), code.rstrip("\n"), after, "#sourceLocation()", closing]
    return "\n".join(lines) + "\n", manifest


def blocks(page, text):
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start(3)) + 1
        yield page, line, match[1], match[3]


def collected(names):
    found = []
    for page in names or sorted({path for pattern in PAGES for path in ROOT.glob(pattern)}):
        name = str((ROOT / page).relative_to(ROOT))
        found += blocks(name, (ROOT / page).read_text(encoding="utf-8"))
    for source in [] if names else sorted(path for each in SOURCES for path in (ROOT / "Sources" / each).rglob("*.swift")):
        # A line of a comment stays the line that it is; what is none is empty.
        lines = [re.match(r"\s*///? ?(.*)|", line)[1] or "" for line in source.read_text(encoding="utf-8").split("\n")]
        found += blocks(str(source.relative_to(ROOT)), "\n".join(lines))
    for step in [] if names else sorted((ROOT / "Documentation").glob("*.docc/Resources/*.swift")):
        found.append((str(step.relative_to(ROOT)), 1, None, step.read_text(encoding="utf-8")))
    return found


def compiled(files, flags):
    command = ["swiftc", "-typecheck", "-wmo", "-suppress-warnings", "-module-name", "Pages", *flags, *files]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout


def main():
    flags = subprocess.run([str(ROOT / "Tests/Support/module-flags")], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[:-1]
    toolchain = pathlib.Path(shutil.which("swiftc")).resolve().parents[1]
    # Swift Testing's macros, and the manifests' module.
    flags += ["-swift-version", "6", "-parse-as-library", "-plugin-path", str(toolchain / "lib/swift/host/plugins/testing")]
    manifest_flags = ["-I", str(toolchain / "lib/swift/pm/ManifestAPI"), "-package-description-version", "6.2.0"]
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    files, manifests = [str(ROOT / "Documentation/given.swift")], []
    found = collected(sys.argv[1:])
    for number, block in enumerate(found):
        text, manifest = file_of(number, *block)
        name = re.sub(r"\W+", "-", block[0])
        path = OUT / f"{name}-{block[1]}.swift"
        path.write_text(text, encoding="utf-8")
        (manifests if manifest else files).append(str(path))
    # Each manifest has a package of its own.
    runs = [(files, flags)] + [([each], manifest_flags) for each in manifests]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda run: compiled(*run), runs))
    for good, said in results:
        if not good:
            print(said, file=sys.stderr)
    if not all(good for good, _ in results):
        print("snippets.py: error: a page has Swift that does not compile", file=sys.stderr)
        return 1
    print(f"The pages' Swift: {len(found)} blocks, all compile")
    return 0


if __name__ == "__main__":
    sys.exit(main())
