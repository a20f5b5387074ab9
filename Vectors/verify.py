#!/usr/bin/env python3
"""Verifies SealKit's vectors, or an export of real data, independently of SealKit.

    verify.py [FOLDER] [--reasons]                          every vector of a folder (default: this one)
    verify.py [FOLDER] --isolation                          which invalid tests break more than one rule
    verify.py --export FOLDER --key-file FILE [--url URL]   what `sealkit export --raw` wrote of a zone
    verify.py --export FOLDER                               the same of the public database

The key file's passphrase, if it has one, is in the environment: SEALKIT_PASSPHRASE.
The exit code is 0 only if everything agrees.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # a folder of vectors stays as it is


def require_libraries() -> None:
    """Says what is missing, and where it comes from."""
    missing = [name for name in ("nacl", "cryptography", "kyber_py") if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(
            f"verify.py needs the libraries of Vectors/requirements.txt, and does not find {', '.join(missing)}.\n"
            "In SealKit's checkout, Tests/Support/verifier installs them: run .build/verifier/bin/python Vectors/verify.py"
        )


def main() -> int:
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=here, help="the folder of vectors")
    parser.add_argument("--reasons", action="store_true", help="list refusals for another cause than meant")
    parser.add_argument("--isolation", action="store_true", help="list invalid tests with several causes, instead")
    parser.add_argument("--export", type=Path, metavar="FOLDER", help="open an export instead")
    parser.add_argument("--key-file", type=Path, metavar="FILE", help="the account's key file, for a zone's export")
    parser.add_argument("--url", metavar="URL", help="a share URL to check against the export")
    arguments = parser.parse_args()
    require_libraries()

    if arguments.export is None:
        from verifier.runner import run_folder

        if not arguments.folder.is_dir():
            parser.error("no such folder")
        if arguments.isolation:
            from verifier.isolation import run_isolation

            return run_isolation(arguments.folder)
        return run_folder(arguments.folder, arguments.reasons)

    from verifier.export import run_export

    return run_export(arguments.export, arguments.key_file, arguments.url)


if __name__ == "__main__":
    sys.exit(main())
