#!/usr/bin/env python3
"""Writes an object with a smaller copy of ICU's data, for the released command to be linked with.

    Packaging/icu.py OUT.o

Swift's static Foundation has 34 MB of it, a third of the command: names, sorting rules and number formats of 200 languages, tables of
old encodings, dictionaries for breaking lines. The command speaks no language by ICU: it folds text for queries, writes dates for
machines and for mail (en_US_POSIX), and reads host names. So what is no language's stays, and so do the root locale and English; the
rest goes, and ICU falls back to the root where a program asks for it. `make package-check` compares what Foundation
answers with both.

Prints the symbol by which ICU knows its data. The object calls it `sealkit_icu_data`: the linker is told to take the one for the
other (--defsym), and drops what nobody refers to any more. Where Swift's library is not as expected (other versions of Swift), this says
so and ends with an error.
"""

import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

SYMBOL = "sealkit_icu_data"
MEMBER = "icu_packaged_data.cpp.o"
# Locales' files are called by a language of two or three letters, with what follows it: de.res, zh_Hant_TW.res.
LOCALE = re.compile(r"(?P<language>[a-z]{2,3})(_[A-Za-z0-9_]+)?\.res")
# In folders of languages, but none's; and en_US_POSIX is English.
KEPT_LANGUAGES = {"root", "en"}
# Encodings beyond those that Foundation has code of its own for, and dictionaries of languages written without spaces.
DROPPED = (".cnv", ".dict")


def ran(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, **options).stdout


def library():
    paths = json.loads(ran("swift", "-print-target-info", "-static-stdlib"))["paths"]
    for folder in [paths["runtimeResourcePath"], *paths["runtimeLibraryPaths"]]:
        for found in (pathlib.Path(folder) / "lib_FoundationICU.a", pathlib.Path(folder) / "linux/lib_FoundationICU.a"):
            if found.exists():
                return found
    sys.exit("icu.py: this Swift has no lib_FoundationICU.a")


def symbol_and_data(archive, folder):
    member = folder / MEMBER
    member.write_bytes(ran("ar", "p", str(archive), MEMBER))
    symbols = [line.split() for line in ran("nm", "--defined-only", "-S", str(member), text=True).splitlines()]
    if len(symbols) != 1 or not re.fullmatch(r"icudt\d+_dat", symbols[0][3]) or int(symbols[0][0], 16) != 0:
        sys.exit(f"icu.py: {MEMBER} of {archive} holds something else than ICU's data alone")
    ran("objcopy", "-O", "binary", "-j", ".rodata", str(member), str(folder / "data"))
    return symbols[0][3], (folder / "data").read_bytes()[: int(symbols[0][1], 16)]


def items(data):
    """A package's header, and its items by name, as ICU's ucmndata.h has them: a count, and offsets of names and contents from there."""
    size, magic = struct.unpack_from("<HH", data)
    if magic != 0x27DA or data[8] != 0 or data[12:16] != b"CmnD" or data[16] != 1:
        sys.exit("icu.py: ICU's data is of another form")
    (count,) = struct.unpack_from("<I", data, size)
    offsets = [struct.unpack_from("<II", data, size + 4 + 8 * index) for index in range(count)]
    ends = [start for _, start in offsets[1:]] + [len(data) - size]
    return data[:size], {
        data[size + name : data.index(b"\0", size + name)].decode(): data[size + start : size + end]
        for (name, start), end in zip(offsets, ends)
    }


def is_kept(name):
    base = name.rsplit("/", 1)[-1]
    if base.endswith(DROPPED):
        return False
    locale = LOCALE.fullmatch(base)
    return not locale or locale["language"] in KEPT_LANGUAGES


def package(header, kept):
    names, contents = bytearray(), bytearray()
    table = 4 + 8 * len(kept)
    offsets = []
    for name in sorted(kept):
        offsets.append(len(names))
        names += name.encode() + b"\0"
    base = table + len(names)
    base += -(len(header) + base) % 16
    out = bytearray(struct.pack("<I", len(kept)))
    for offset, name in zip(offsets, sorted(kept)):
        out += struct.pack("<II", table + offset, base + len(contents))
        contents += kept[name] + b"\0" * (-len(kept[name]) % 16)
    return header + out + names + b"\0" * (base - table - len(names)) + contents


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        symbol, data = symbol_and_data(library(), folder)
        header, all_items = items(data)
        small = package(header, {name: item for name, item in all_items.items() if is_kept(name)})
        (folder / "small").write_bytes(small)
        (folder / "data.s").write_text(
            f'.section .rodata\n.globl {SYMBOL}\n.type {SYMBOL}, %object\n.balign 16\n{SYMBOL}:\n.incbin "{folder}/small"\n'
            f".size {SYMBOL}, .-{SYMBOL}\n.section .note.GNU-stack,\"\",%progbits\n")
        ran("as", "-o", sys.argv[1], str(folder / "data.s"))
    print(f"icu.py: {len(small):,} of {len(data):,} bytes of ICU's data", file=sys.stderr)
    print(symbol)


main()
