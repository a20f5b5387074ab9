#!/usr/bin/env python3
"""Saves one plain field to a container's public database, with a server-to-server key and nothing but PyNaCl.

    sealkit server-key create --name importer --output credential.json
    Examples/server-to-server.py credential.json Place berlin city Berlin

PROTOCOL.md ("Canonical encoding", "Statements", "Server-to-server key") has what is written and signed here.
"""

import base64
import datetime
import hashlib
import json
import os
import struct
import sys
import time
import urllib.request

try:
    from nacl.signing import SigningKey
except ImportError:
    sys.exit("This needs PyNaCl: apt-get install python3-nacl, or pip install pynacl")


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def pae(label, *pieces):
    pieces = (b"sealkit/1/" + label, *pieces)
    return struct.pack("<Q", len(pieces)) + b"".join(struct.pack("<Q", len(p)) + p for p in pieces)


def digest(label, *pieces):
    return hashlib.blake2b(pae(label, *pieces), digest_size=32).digest()


def string(text):
    return struct.pack("<I", len(text.encode())) + text.encode()


def main(file, record_type, name, field, value):
    credential = json.load(open(file))
    key = SigningKey(decode(credential["signingSeed"]))
    user = bytes.fromhex(credential["keyID"][1:])
    container, environment = credential["container"], credential["environment"]

    # The one field: a plain string. Its digest is what the statement covers.
    stored = b"\x01" + string(value)
    fields = digest(b"fields", field.encode(), digest(b"field", field.encode(), b"\x01", b"\x01", stored))
    # A first revision in the public database, which is nobody's: no scope, no epoch, no roster.
    statement = b"".join([
        b"\x01", string(container), b"\x01" if environment == "development" else b"\x02", bytes(16), string("_defaultZone"),
        struct.pack("<I", 1), string(name), string(record_type), user, user,
        struct.pack("<q", int(time.time() * 1_000_000)), struct.pack("<Q", 1), bytes(32), bytes(32), struct.pack("<II", 0, 0),
        b"\x00", struct.pack("<I", 0), b"\x00", struct.pack("<Q", 0), bytes(32), bytes(32), b"\x00", b"\x00", os.urandom(16), fields,
    ])
    root = digest(b"statement", statement)  # of a tree of one leaf
    request = {
        "operationId": base64.b64encode(os.urandom(16)).decode(),
        "atomic": True,
        "signature": base64.b64encode(key.sign(pae(b"statements", root, struct.pack("<I", 1))).signature).decode(),
        "records": [{
            "recordName": name, "recordType": record_type, "statement": base64.b64encode(statement).decode(),
            "fields": [{"name": field, "plain": {"string": value}}],
        }],
    }
    print(json.dumps(send(credential, key, user, "records/modify", request)))


def send(credential, key, user, call, message):
    path = f"/database/1/{credential['container']}/{credential['environment']}/public/{call}"
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    nonce, body = os.urandom(16), json.dumps(message).encode()
    signed = pae(b"server-request", credential["server"].encode(), user, b"POST", path.encode(), date.encode(), nonce, body)
    headers = {
        "Content-Type": "application/json", "X-SealKit-Key-ID": credential["keyID"], "X-SealKit-Date": date,
        "X-SealKit-Nonce": nonce.hex(), "X-SealKit-Signature": key.sign(signed).signature.hex(),
    }
    with urllib.request.urlopen(urllib.request.Request(credential["server"] + path, body, headers)) as answer:
        return json.load(answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
