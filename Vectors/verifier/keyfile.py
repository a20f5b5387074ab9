"""The key file that comes beside an export: an account's seeds, in clear or in a password box."""

from __future__ import annotations

import os
from pathlib import Path

from . import strictjson
from .accounts import open_password_box, split_seeds
from .errors import Disagreement, Reason, Refused, present, require
from .links import from_base64url
from .vectorfile import Fields

FORMAT = "sealkit-key-file"
PASSPHRASE = "SEALKIT_PASSPHRASE"


def read_seeds(path: Path) -> list[bytes]:
    """The seeds of all generations, oldest first."""
    try:
        document = strictjson.parse(path.read_bytes())
    except (OSError, strictjson.NotStrict):
        raise Refused(Reason.EXPORT, "the key file cannot be read") from None
    require(type(document) is dict, Reason.EXPORT, "the key file is no object")
    fields = Fields(document, "key file: ")
    try:
        require(fields.text("format") == FORMAT, Reason.EXPORT, "not a key file")
        require(fields.small("version") == 1, Reason.EXPORT, "a key file of another version")
        fields.text("server")  # for people: nothing here speaks to a server
        if "deviceName" in document:
            fields.text("deviceName")  # for people, too
        unfinished = fields.raw("unfinished") if "unfinished" in document else False
        sealed = fields.raw("sealed")
        seeds = from_base64url(fields.text("seeds"), Reason.EXPORT)
    except Disagreement as disagreement:
        raise Refused(Reason.EXPORT, str(disagreement)) from None
    require(type(sealed) is bool, Reason.EXPORT, "`sealed` is true or false")
    require(not list(fields.unused()), Reason.EXPORT, "something unknown in the key file")
    if sealed:
        passphrase = present(os.environ.get(PASSPHRASE), Reason.EXPORT, f"the key file is sealed: set {PASSPHRASE}")
        seeds = open_password_box(passphrase.encode("utf-8"), seeds)
    # Behind those of an account that is not made yet stands its recovery key.
    return split_seeds(seeds[:-32] if unfinished is True else seeds)
