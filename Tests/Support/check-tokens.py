"""Checks verification tokens with pyseto, a PASETO library that shares no code with ours.

Standard input: one JSON object, {"keys": {kid: public key in hexadecimal digits}, "tokens": [token, …]}.
Standard output: a JSON list, for each token its claims, or null where it is refused.
"""

import base64
import json
import sys

import pyseto
from pyseto import Key


def public_key(kid, hexadecimal):
    """The key as the library has it; its PASERK id has to be the one that names it."""
    raw = bytes.fromhex(hexadecimal)
    key = Key.from_asymmetric_key_params(version=4, x=raw)
    if key.to_paserk_id() != kid:
        raise ValueError("the key's name is not its PASERK id")
    return key


def check(token, keys):
    try:
        # The footer names the key; nothing else of it counts before the signature does.
        footer = token.split(".")[3]
        kid = json.loads(base64.urlsafe_b64decode(footer + "=" * (-len(footer) % 4)))["kid"]
        decoded = pyseto.decode(keys[kid], token)
    except (ValueError, KeyError, IndexError, pyseto.DecryptError, pyseto.VerifyError):
        return None
    return json.loads(decoded.payload)


request = json.load(sys.stdin)
known = {kid: public_key(kid, text) for kid, text in request["keys"].items()}
json.dump([check(token, known) for token in request["tokens"]], sys.stdout)
