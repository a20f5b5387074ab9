#!/usr/bin/env python3
"""Writes Debian's copyright file, with the licences of all that is linked into the command, and the notices that go with them.

    Packaging/copyright.py COPYRIGHT NOTICE

What Package.resolved names is read from .build/checkouts: a package under a licence that is not known here ends it with an error. So
does a file in C of a package that is in no list below, since those come from elsewhere and bring licences of their own.
"""

import json
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
CHECKOUTS = ROOT / ".build/checkouts"

# Sources of others in packages, or in Swift's own libraries: whose they are, under what, by folder.
INSIDE = {
    "GRDB.swift/Sources/GRDBSQLCipher": None,  # a header; the system's SQLite is linked
    "Yams/Sources/CYaml": ("2006-2016 Kirill Simonov; 2017-2020 Ingy döt Net", "Expat"),
    "swift-crypto/Sources/CCryptoBoringSSL": (
        "1995-2016 The OpenSSL Project Authors; 2014-2025 The BoringSSL Authors; Google LLC; 2015-2020 the fiat-crypto authors",
        "Apache-2.0"),
    "swift-crypto/Sources/CXKCP": ("Keccak, Keyak and Ketje teams: put into the public domain", "CC0-1.0"),
    "swift-nio-ssl/Sources/CNIOBoringSSL": (
        "1995-2016 The OpenSSL Project Authors; 2014-2025 The BoringSSL Authors; Google LLC; 2015-2020 the fiat-crypto authors",
        "Apache-2.0"),
    "swift-nio/Sources/CNIOLLHTTP": ("2018 Fedor Indutny", "Expat"),
    "swift-nio/Sources/CNIOSHA1": ("1995-1998 WIDE Project", "BSD-3-Clause"),
    "swift-nio-extras/Sources/CNIOExtrasZlib": ("1995-2026 Jean-loup Gailly and Mark Adler", "Zlib"),
    "swift-protobuf/Sources/protobuf": None,  # protoc, which the command is not linked with
}
# C of a package's own authors: shims, and what other systems need.
OWN = re.compile(r"(CAsyncHTTPClient|_AtomicsShims|CCryptoBoringSSLShims|CNIOBoringSSLShims|CXKCPShims|_CWASI|CNIO\w+|_NumericsShims|CSystem)$")
SWIFT = [
    ("usr/lib/swift_static/*", "Swift's standard library, runtime, Dispatch and Foundation", "2014-2026 Apple Inc. and the Swift project authors", "Apache-2.0 with Swift exception"),
    ("usr/lib/swift_static/linux/lib_FoundationICU.a", "ICU, in Swift's Foundation", "2016-2025 Unicode, Inc.; 1995-2016 International Business Machines Corporation and others", "Unicode-3.0"),
]


def licence(text, package):
    if "Apache License" in text:
        return "Apache-2.0 with Swift exception" if "Runtime Library Exception" in text else "Apache-2.0"
    if "Permission is hereby granted, free of charge" in text:
        return "Expat"
    sys.exit(f"copyright.py: {package} has a licence that is not known here: say which in Packaging/copyright.py")


def holders(folder, text):
    notice = folder / "NOTICE.txt"
    found = re.findall(r"^\s*Copyright (?:\([cC]\) |©\s*)?(\d.*)$", (notice.read_text() if notice.exists() else "") + "\n" + text, re.MULTILINE)
    if not found:
        # Where nothing else says it, the head of a file does.
        for file in sorted(folder.glob("Sources/**/*.swift")):
            found = re.findall(r"Copyright (?:\([cC]\) )?(\d{4}.*)$", file.read_text(errors="replace"), re.MULTILINE)
            if found:
                break
    if not found:
        sys.exit(f"copyright.py: nothing in {folder} says whose it is")
    return re.sub(r"\s*Licensed under.*$", "", found[0]).strip()


def paragraph(files, holder, name, comment=None):
    lines = [f"Files: {files}", f"Copyright: {holder}", f"License: {name}"]
    if comment:
        lines.append("Comment: " + comment)
    return "\n".join(lines)


def texts():
    """Each licence's text, as Debian has it, or as it has to go along."""
    indented = lambda text: "\n".join(" " + line if line.strip() else " ." for line in textwrap.dedent(text).strip("\n").split("\n"))
    common = "On Debian systems the text of the {} is in /usr/share/common-licenses/{}."
    exception = (ROOT / "Packaging/licenses/Swift-exception").read_text()
    yield "Apache-2.0", indented(common.format("Apache License, version 2.0,", "Apache-2.0"))
    yield "Apache-2.0 with Swift exception", indented(common.format("Apache License, version 2.0,", "Apache-2.0") + "\n\n" + exception)
    yield "CC0-1.0", indented(common.format("Creative Commons CC0 1.0 Universal", "CC0-1.0"))
    for name in ("Expat", "BSD-3-Clause", "Unicode-3.0", "Zlib"):
        yield name, indented((ROOT / "Packaging/licenses" / name).read_text())


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pins = json.loads((ROOT / "Package.resolved").read_text())["pins"]
    parts = [
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: SealKit\n"
        "Source: a checkout of SealKit; `make deb` built this\n"
        "Comment: The command has what is below .build/checkouts and in Swift's libraries linked into it.",
        paragraph("*", "2026 The SealKit authors", "Apache-2.0"),
    ]
    notices = ["Notices of what is linked into the command sealkit.\n"]
    for pin in sorted(pins, key=lambda pin: pin["location"].lower()):
        name = re.sub(r"\.git$", "", pin["location"].rsplit("/", 1)[-1])
        folder = CHECKOUTS / name
        if not folder.is_dir():
            sys.exit(f"copyright.py: {folder} is not there. Build first: make release")
        text = next(folder.glob("LICENSE*")).read_text()
        parts.append(paragraph(f".build/checkouts/{name}/*", holders(folder, text), licence(text, name), f"{name} {pin['state'].get('version', '')}, {pin['location']}"))
        notice = folder / "NOTICE.txt"
        if notice.exists():
            notices.append(f"== {name}\n\n{notice.read_text().strip()}\n")
        for source in sorted({file.relative_to(CHECKOUTS).parts[2] for ending in ("c", "cc", "S") for file in folder.glob(f"Sources/**/*.{ending}")}):
            inside = f"{name}/Sources/{source}"
            if inside in INSIDE:
                if INSIDE[inside]:
                    parts.append(paragraph(f".build/checkouts/{inside}/*", *INSIDE[inside]))
            elif not OWN.match(source):
                sys.exit(f"copyright.py: .build/checkouts/{inside} has sources in C: say whose in Packaging/copyright.py")
    # No files of the checkout: Swift's own, which the linker takes in.
    parts += [paragraph(folder, holder, name, what) for folder, what, holder, name in SWIFT]
    parts += [f"License: {name}\n{text}" for name, text in texts()]
    pathlib.Path(sys.argv[1]).write_text("\n\n".join(parts) + "\n")
    pathlib.Path(sys.argv[2]).write_text("\n".join(notices))


main()
