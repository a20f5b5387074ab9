#!/usr/bin/env python3
"""Makes the documentation a site of static files, .build/docs/site, with Swift's own tools from what `swift build` has built.

    Documentation/site.py [--base /PATH]

Each catalog below becomes an archive of DocC's, and all of them together the site, below `--base` of whatever serves it. Whatever DocC warns
of is an error, and so is a link that leads nowhere. Pages are read where they stand, on the site or in the checkout: a link
from one of them to another's file becomes a link to its page.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUT = ROOT / ".build/docs"
sys.path.insert(0, str(ROOT / "Documentation"))
sys.dont_write_bytecode = True

import commands  # noqa: E402


class Catalog:
    """A folder of articles, of a module or not, with pages from elsewhere in the checkout as {file: name of the page}. `root` is
    the page among them that stands for the whole. Of a `documented` module no public symbol is without a word."""

    def __init__(self, name, folder=None, module=False, root=None, pages=None, documented=False):
        self.name, self.folder, self.module, self.root, self.pages, self.documented = name, folder, module, root, pages or {}, documented

    def path(self, name):
        """Where a page is on the site."""
        if self.folder == "Documentation/Tutorials.docc":
            return f"/tutorials/{self.name.lower()}" + ("" if name == self.name else "/" + name.lower())
        return f"/documentation/{self.name.lower()}" + ("" if name == self.name else "/" + name.lower())

    def sources(self):
        """{file of the checkout: name of its page}"""
        found = dict(self.pages)
        if self.root:
            found[self.root] = self.name
        if self.folder:
            for pattern in ("*.md", "*.tutorial"):
                found |= {str(path.relative_to(ROOT)): path.stem for path in sorted((ROOT / self.folder).glob(pattern))}
        return found


CATALOGS = [
    Catalog("SealKit", "Sources/SealKit/Documentation.docc", module=True, documented=True),
    Catalog("SealKitTesting", "Sources/SealKitTesting/Documentation.docc", module=True, documented=True),
    Catalog("CloudKit", "Sources/CloudKit/Documentation.docc", module=True),
    Catalog("SealServer", "Sources/SealServer/Documentation.docc", module=True, pages={"CHANGELOG.md": "Changelog"}),
    Catalog("Learn", "Documentation/Tutorials.docc"),
    Catalog("Commands", "Documentation/Commands.docc"),
    Catalog(
        "Apps", "Documentation/Apps.docc",
        pages={
            "Examples/Todo/README.md": "Todo", "Examples/CloudKitNotes/README.md": "CloudKitNotes", "Web/library/README.md": "WebLibrary",
            "Examples/web/README.md": "WebExamples",
        }),
    Catalog(
        "Protocol", root="Vectors/PROTOCOL.md",
        pages={
            "Vectors/PROTOCOL-PROCEDURES.md": "Procedures", "Vectors/PROTOCOL-TRANSPORT.md": "Transport", "Vectors/FILES.md": "Files",
            "Vectors/PUBLISHED.md": "Published",
        }),
    Catalog(
        "Security", "Documentation/Security.docc", root="SECURITY.md",
        pages={
            "COSTS.md": "Costs", "Sources/README.md": "Sources", "Proofs/README.md": "Proofs", "Proofs/results.md": "ProofResults",
        }),
]
# Of Markdown, and no picture.
LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\(([^()\s]+)\)")
PAGES = {file: catalog.path(name) for catalog in CATALOGS for file, name in catalog.sources().items()}


def rewritten(text, file):
    """A page's text, with links to files as links to their pages; a file that has no page is named."""

    def link(match):
        words, target = match[1], match[2]
        if re.match(r"[a-z]+:|#|/", target):
            return match[0]
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(file), path))
        if not (ROOT / path).exists():
            sys.exit(f"site.py: {file} links to {path}, which is not there")
        if path not in PAGES:
            return f"{words} (`{path}`)" if path not in words else words
        return f"[{words}]({PAGES[path]}{'#' + anchor if anchor else ''})"

    # Code stays as it is.
    parts = re.split(r"(^ *```.*?^ *```$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if index % 2 else LINK.sub(link, part) for index, part in enumerate(parts))



def rooted(text, pages):
    """The text of a page that stands for its catalog, with the others below it."""
    title, rest = text.split("\n", 1)
    title = title.replace("`", "")
    below = "".join(f"- <doc:{page}>\n" for page in pages)
    return f"{title}\n\n@Metadata {{\n    @TechnologyRoot\n}}\n{rest}\n\n## Topics\n\n{below}"


def staged(catalog):
    """The catalog as a folder for docc."""
    folder = OUT / "catalogs" / f"{catalog.name}.docc"
    shutil.rmtree(folder, ignore_errors=True)
    if catalog.folder:
        shutil.copytree(ROOT / catalog.folder, folder)
    else:
        folder.mkdir(parents=True)
    sources = catalog.sources()
    for file, name in sources.items():
        text = rewritten((ROOT / file).read_text(encoding="utf-8"), file)
        if file == catalog.root:
            text = rooted(text, [other for other in sources.values() if other != name])
        (folder / (name + pathlib.Path(file).suffix)).write_text(text, encoding="utf-8")
    if catalog.name == "Commands":
        commands.write(ROOT / ".build/debug/sealkit", folder)
    return folder


def tool(name):
    found = shutil.which(name)
    return found or str(pathlib.Path(shutil.which("swift")).resolve().parent / name)


def symbols(catalog, flags, target):
    """The symbol graphs of a module."""
    folder = OUT / "symbols" / catalog.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(
        ["swift", "symbolgraph-extract", "-module-name", catalog.name, "-target", target, *flags, "-minimum-access-level", "public",
         "-output-dir", str(folder)], cwd=ROOT, check=True)
    return folder


def archive(catalog, base, flags, target):
    """The catalog's archive, and whether docc had nothing to say."""
    command = [
        tool("docc"), "convert", str(staged(catalog)), "--fallback-display-name", catalog.name, "--fallback-bundle-identifier", catalog.name,
        "--warnings-as-errors", "--output-path", str(OUT / f"{catalog.name}.doccarchive"),
    ]
    if catalog.module:
        command += ["--additional-symbol-graph-dir", str(symbols(catalog, flags, target)), "--fallback-default-module-kind", "Module"]
    if base:
        command += ["--hosting-base-path", base]
    shutil.rmtree(OUT / f"{catalog.name}.doccarchive", ignore_errors=True)
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout


def undocumented(catalog):
    """Public symbols that nobody has said anything about: what the module declares itself, and not what a compiler adds."""
    missing = []
    for file in sorted((OUT / "symbols" / catalog.name).glob("*.symbols.json")):
        graph = json.loads(file.read_text(encoding="utf-8"))
        for symbol in graph["symbols"]:
            precise = symbol["identifier"]["precise"]
            if "::SYNTHESIZED::" in precise or "docComment" in symbol or symbol["kind"]["identifier"] == "swift.module":
                continue
            if "location" not in symbol:
                continue
            missing.append(f"{'.'.join(symbol['pathComponents'])} ({symbol['location']['uri'].removeprefix('file://')}:{symbol['location']['position']['line'] + 1})")
    return missing


def anchors(page):
    """Whatever of a page a link can lead to."""
    found = set()

    def walk(value):
        if isinstance(value, dict):
            if isinstance(value.get("anchor"), str):
                found.add(value["anchor"].lower())
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    walk({key: value for key, value in page.items() if key != "references"})
    found |= {"topics", "relationships", "see-also", "discussion", "overview", "parameters", "return-value", "mentions", "inherited-by"}
    return found


def dead_links(site):
    """Links of all pages that lead to no page, to no place of one, or to no file."""
    pages = {"/" + str(path.relative_to(site / "data").with_suffix("")): json.loads(path.read_text(encoding="utf-8"))
             for path in (site / "data").rglob("*.json")}
    places = {path.lower(): anchors(page) for path, page in pages.items()}
    dead = []
    for path, page in sorted(pages.items()):
        # Chapters of tutorials have names and no pages; what other modules declare has neither here.
        chapters = {each["reference"] for each in page.get("hierarchy", {}).get("modules", [])} if page.get("kind") == "project" else set()
        for identifier, reference in page.get("references", {}).items():
            kind = reference.get("type")
            if kind == "unresolvable" and re.match(r"doc://\w+/(documentation|tutorials)/", identifier):
                dead.append(f"{path}: leads to {identifier}, and there is no such page")
            if identifier in chapters or kind not in ("link", "topic", "section"):
                continue
            target = reference.get("url", "")
            if re.match(r"(https?|mailto|example|sealkit[a-z-]*):", target):
                continue
            where, _, anchor = target.partition("#")
            where = where.rstrip("/").lower() or path.lower()
            if where not in places:
                dead.append(f"{path}: leads to {target}, and there is no such page")
            elif anchor and kind != "section" and anchor.lower() not in places[where]:
                dead.append(f"{path}: leads to {target}, and the page has no such place")
    front = (site / "index.html").read_text(encoding="utf-8")
    for target in re.findall(r'(?:href|src)="([^":]+)"', front):
        if not (site / target / "index.html").is_file() and not (site / target).is_file():
            dead.append(f"index.html: leads to {target}, which is not there")
    return dead


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--base", default="", help="the path under which the site is served, /sealkit; none where it is a host's own")
    base = parser.parse_args().base.strip("/")
    flags = subprocess.run([str(ROOT / "Tests/Support/module-flags")], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[:-1]
    target = json.loads(subprocess.run(["swift", "-print-target-info"], stdout=subprocess.PIPE, text=True, check=True).stdout)["target"]["unversionedTriple"]
    failed = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for catalog, (good, said) in zip(CATALOGS, pool.map(lambda each: archive(each, base, flags, target), CATALOGS)):
            if not good:
                print(said, file=sys.stderr)
                print(f"site.py: error: {catalog.name}: see above", file=sys.stderr)
                failed = True
    for catalog in CATALOGS:
        if catalog.documented:
            missing = undocumented(catalog)
            for each in missing:
                print(f"site.py: error: {catalog.name}: no documentation of {each}", file=sys.stderr)
            failed |= bool(missing)
    if failed:
        return 1
    site = OUT / "site"
    shutil.rmtree(site, ignore_errors=True)
    subprocess.run(
        [tool("docc"), "merge", *[str(OUT / f"{each.name}.doccarchive") for each in CATALOGS], "--output-path", str(site),
         "--synthesized-landing-page-name", "SealKit", "--synthesized-landing-page-kind", "Documentation"], check=True)
    shutil.copy(ROOT / "Documentation/front.html", site / "index.html")
    # The renderer asks for it on every page.
    (site / "theme-settings.json").write_text("{}\n", encoding="utf-8")
    dead = dead_links(site)
    for each in dead:
        print(f"site.py: error: {each}", file=sys.stderr)
    if dead:
        return 1
    count = sum(1 for _ in (site / "data").rglob("*.json"))
    print(f"The documentation: {count} pages in {site.relative_to(ROOT)}, no link leads nowhere")
    return 0


if __name__ == "__main__":
    sys.exit(main())
