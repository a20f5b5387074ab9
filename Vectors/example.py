#!/usr/bin/env python3
"""The worked example of PROTOCOL.md, from a seed to an opened field.

    example.py            prints it
    example.py --full     the same with every byte of what is shortened otherwise
    example.py --check    whether PROTOCOL.md holds exactly what this prints
    example.py --write    puts it there
    example.py --verify   puts its entry, grant and statement through the verifier's own decoders and rules

It writes each structure by itself, field by field, from PROTOCOL.md: of the verifier it uses the primitives alone (PAE, hashes,
signatures, AEAD, HPKE), so that it is a second witness of the encodings. What is random in life is drawn here from a public
string, so that every byte can be computed again. The exit code is 0 only if all agrees.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # a folder of vectors stays as it is

from verify import require_libraries  # noqa: E402

require_libraries()

import nacl.bindings as sodium  # noqa: E402
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey  # noqa: E402
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305  # noqa: E402
from kyber_py.ml_kem import ML_KEM_768  # type: ignore[import-untyped]  # noqa: E402
from verifier import hpke, xwing  # noqa: E402
from verifier.errors import Refused  # noqa: E402
from verifier.notation import (  # noqa: E402
    hash_, kdf, open_, pae, public_signing_key, seal, sign, sign_bytes, verify,
)

PAGE = Path(__file__).resolve().parent / "PROTOCOL.md"
BEGIN, END = "<!-- example: begin -->\n```text\n", "```\n<!-- example: end -->\n"
CONTAINER, ZONE, RECORD, TYPE, ORIGIN = "com.example.notes", "Notes", "note-1", "Note", "https://notes.example.org"
DEVELOPMENT = 1
ZERO = bytes(32)
SHORT = 128  # bytes: what is longer is shown by its ends and its SHA-256


def u8(number: int) -> bytes:
    return number.to_bytes(1, "little")


def u16(number: int) -> bytes:
    return number.to_bytes(2, "little")


def u32(number: int) -> bytes:
    return number.to_bytes(4, "little")


def u64(number: int) -> bytes:
    return number.to_bytes(8, "little")


def i64(number: int) -> bytes:
    return number.to_bytes(8, "little", signed=True)


def blob(data: bytes) -> bytes:
    return u32(len(data)) + data


def string(text: str) -> bytes:
    return blob(text.encode())


def drawn(what: str, count: int) -> bytes:
    """What is random in life."""
    return hashlib.shake_256(f"SealKit example: {what}".encode()).digest(count)


def labelled(label: str, *pieces: bytes) -> bytes:
    return pae(b"sealkit/1/" + label.encode(), *pieces)


def taken(root: bytes, count: int) -> bytes:
    """A deletion's `fields`: what goes along with it."""
    return hashlib.blake2b(labelled("taken", root, u32(count)), digest_size=32).digest()


def url_part(data: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def pad(data: bytes) -> bytes:
    """Padmé with a floor of 32 bytes."""
    size = max(len(data), 32)
    exponent = size.bit_length() - 1
    unit = 1 << (exponent - exponent.bit_length())
    return data + bytes(-(-size // unit) * unit - len(data))


def hpke_seal(public_key: bytes, message: bytes, draw: bytes, label: str, *pieces: bytes) -> bytes:
    """HPKE with the draw of X-Wing's `EncapsulateDerand`: 32 bytes for ML-KEM-768, 32 for X25519."""
    ml_kem, ml_kem_part = ML_KEM_768._encaps_internal(public_key[:1184], draw[:32])
    ephemeral, recipient = X25519PrivateKey.from_private_bytes(draw[32:]), public_key[1184:]
    x25519_part = ephemeral.public_key().public_bytes_raw()
    x25519 = ephemeral.exchange(X25519PublicKey.from_public_bytes(recipient))
    shared = hashlib.sha3_256(ml_kem + x25519 + x25519_part + recipient + rb"\.//^" + b"\\").digest()
    key, nonce = hpke.key_schedule(shared, labelled(label, *pieces))
    return ml_kem_part + x25519_part + ChaCha20Poly1305(key).encrypt(nonce, message, b"")


class Text:
    """The example's lines."""

    def __init__(self, full: bool) -> None:
        self.full = full
        self.lines: list[str] = []
        self.values: dict[str, bytes] = {}  # the last of each name

    def step(self, title: str) -> None:
        self.lines += ["", f"== {title}"] if self.lines else [f"== {title}"]

    def note(self, text: str) -> None:
        self.lines.append(f"   {text}")

    def value(self, name: str, data: bytes, kind: str = "") -> bytes:
        self.values[name] = data
        shown = [data[i : i + 32].hex() for i in range(0, len(data), 32)] or ["(no bytes)"]
        if len(data) > SHORT and not self.full:
            shown = [
                f"{data[:14].hex()} .. {data[-14:].hex()}",
                f"{len(data)} bytes, SHA-256:",
                hashlib.sha256(data).hexdigest(),
            ]
        for index, line in enumerate(shown):
            self.lines.append(f"{kind if index == 0 else '':<11}{name if index == 0 else '':<22} {line}")
        return data

    def structure(self, name: str, parts: list[tuple[str, str, bytes]]) -> bytes:
        """A canonical structure, field by field, and then whole."""
        for kind, part, data in parts:
            self.value(part, data, f"  {kind}")
        return self.value(f"= {name}", b"".join(data for _, _, data in parts))


def example(full: bool = False) -> str:
    text = Text(full)
    values(text)
    return "\n".join(text.lines) + "\n"


def through_verifier() -> None:
    """A roster, a grant and a statement that the verifier, which has its own encoders and rules, takes as well."""
    from verifier.epochs import open_member_grant
    from verifier.reading import Proof, verify_statement
    from verifier.roster import Roster
    from verifier.scope import Life, Scope

    text = Text(True)
    found = values(text)
    roster = Roster(Scope(CONTAINER, DEVELOPMENT, found["user id"], ZONE, ""))
    roster.append(found["= entry bytes"], found["entry's signature"])
    grant = (found["user id"], found["seed (drawn)"], found["grant"])
    epoch_key = open_member_grant(roster, Life(1, 1), 0, *grant)
    statement = verify_statement(found["= statement bytes"], Proof(found["save's signature"], 1, 0, ()), RECORD, roster)
    agree = (roster.head, epoch_key, statement.fields) == (found["head"], found["epoch key (drawn)"], found["fields"])
    if not agree:
        raise AssertionError("the verifier makes something else of the example")


def values(text: Text) -> dict[str, bytes]:
    """Computes all of it, into the text."""

    text.step("1. Account: seed to keys")
    seed = text.value("seed (drawn)", drawn("seed", 32))
    signing_seed = text.value("signing seed", kdf(seed, "identity/sign", CONTAINER.encode()))
    signing_key = text.value("signing key", public_signing_key(signing_seed))
    grant_seed = text.value("grant seed", kdf(seed, "identity/grant", CONTAINER.encode()))
    grant_key = text.value("grant key", xwing.public_key(grant_seed))
    login_seed = text.value("login seed", kdf(seed, "account/login", b""))
    login_key = text.value("login key", public_signing_key(login_seed))

    text.step("2. Login: what is signed over a challenge")
    challenge = text.value("challenge (drawn)", drawn("challenge", 32))
    time = 1_795_341_600_000_000
    login = (ORIGIN.encode(), challenge, i64(time))
    text.value("PAE", pae(b"sealkit/1/login", *login))
    text.value("signature", sign(login_seed, "login", *login))

    text.step("3. Identity, generation 0, and user id")
    identity = text.structure("identity bytes", [
        ("name", "container", string(CONTAINER)),
        ("u32", "generation", u32(0)),
        ("raw 32", "signing key", signing_key),
        ("raw 1216", "grant key", grant_key),
        ("i64", "time", i64(0)),
        ("digest", "previous", ZERO),
    ])
    identity_signature = text.value("signature", sign(signing_seed, "identity", identity))
    chain = u16(1) + blob(identity) + blob(identity_signature) + blob(b"")
    text.value("chain", chain)
    user = text.value("user id", hash_("user", CONTAINER.encode(), signing_key)[:16])
    text.note(f"user record name: _{user.hex()}")
    text.value("login binding", sign(signing_seed, "login-binding", CONTAINER.encode(), login_key))

    text.step("4. Scope of the zone, epoch 0, and its grant")
    scope = text.value("scopeID", hash_("scope", CONTAINER.encode(), u8(DEVELOPMENT), user, ZONE.encode(), b""))
    context = (scope, u32(1), u32(1), u32(0))  # the epoch context: life 1 of zone and scope, epoch 0
    epoch_key = text.value("epoch key (drawn)", drawn("epoch key", 32))
    key_id = text.value("keyID", hash_("key-id", *context, epoch_key))
    subject = (key_id, u8(1), user)
    draw = text.value("encapsulation (drawn)", drawn("encapsulation", 64))
    grant = text.value("grant", hpke_seal(grant_key, epoch_key, draw, "grant", *context, *subject))
    grant_hash = text.value("grant hash", hash_("grant-hash", grant))

    text.step("5. Roster entry 0")
    entry = text.structure("entry bytes", [
        ("digest", "scopeID", scope),
        ("u64", "sequence", u64(0)),
        ("digest", "previous", ZERO),
        ("id", "author", user),
        ("i64", "time", i64(time)),
        ("u16", "count of changes", u16(1)),
        ("u8", "change: open", u8(1)),
        ("name", ". container", string(CONTAINER)),
        ("u8", ". environment", u8(DEVELOPMENT)),
        ("id", ". owner", user),
        ("name", ". zone", string(ZONE)),
        ("string", ". share record name", string("")),
        ("u32", ". zone incarnation", u32(1)),
        ("u32", ". scope incarnation", u32(1)),
        ("u8", ". encryption scope", u8(0)),
        ("flag", ". root record: none", u8(0)),
        ("flag", ". abandoned head: none", u8(0)),
        ("", ". owner's chain", chain),
        ("flag", "epoch follows", u8(1)),
        ("u32", ". number", u32(0)),
        ("digest", ". keyID", key_id),
        ("digest", ". checkpoint", ZERO),
        ("blob", ". previous key: none", blob(b"")),
        ("u16", ". count", u16(1)),
        ("u8", ". kind: member", u8(1)),
        ("id", ". user", user),
        ("digest", ". grant hash", grant_hash),
    ])
    text.value("entry's signature", sign(signing_seed, "roster-entry", entry))
    head = text.value("head", hash_("roster-hash", entry))

    text.step("6. A record: three fields, of which one is sealed")
    draw = text.value("draw of the save", drawn("save", 64))
    text.note("16 bytes for the nonces, 32 of record key, 16 of salt")
    nonces, record_key, salt = draw[:16], draw[16:48], draw[48:]
    record_context = text.value("record context", hash_(
        "record-context", CONTAINER.encode(), u8(DEVELOPMENT), user, ZONE.encode(), u32(1), RECORD.encode(), TYPE.encode()))
    due = text.value("due, stored", u8(5) + struct.pack("<d", 817_034_400.5), "  plain")
    text.note("a date: 2026-11-22T10:00:00.5Z is 817034400.5 s after 2001-01-01T00:00:00Z")
    tags = text.value("tags, stored", u8(0x10) + u32(0), "  plain")
    text.note("an empty list has no kind")
    title = u8(1) + string("Buy milk")
    text.value("title, value", title)
    padded = text.value("title, padded", pad(title))
    sealed = text.value(
        "title, sealed", seal(record_key, padded, nonces + u64(0), "sealed-field", record_context, b"title", u8(1)),
        "  sealed")
    digests = [
        (name, text.value(f"digest of {name.decode()}", hash_("field", name, u8(class_), u8(tag), stored)))
        for name, class_, tag, stored in (
            (b"due", 1, 5, due), (b"tags", 1, 0x10, tags), (b"title", 2, 1, sealed))
    ]
    fields = text.value("fields", hash_("fields", *(piece for pair in digests for piece in pair)))
    wrapping_key = text.value("wrapping key", kdf(epoch_key, "record-wrap", *context))
    wrapped = text.value(
        "wrapped key", seal(wrapping_key, record_key, nonces + u64(1), "record-key", *context, record_context))

    text.step("7. Its statement")
    statement = text.structure("statement bytes", [
        ("u8", "kind: save", u8(1)),
        ("name", "container", string(CONTAINER)),
        ("u8", "environment", u8(DEVELOPMENT)),
        ("id", "owner", user),
        ("name", "zone", string(ZONE)),
        ("u32", "zone incarnation", u32(1)),
        ("name", "record", string(RECORD)),
        ("name", "type", string(TYPE)),
        ("id", "creator", user),
        ("id", "author", user),
        ("i64", "client time", i64(time)),
        ("u64", "revision", u64(1)),
        ("digest", "previous", ZERO),
        ("digest", "scopeID", scope),
        ("u32", "scope incarnation", u32(1)),
        ("u32", "epoch", u32(0)),
        ("flag", "former scope: none", u8(0)),
        ("blob", "wrapped key", blob(wrapped)),
        ("flag", "key carried", u8(0)),
        ("u64", "roster sequence", u64(0)),
        ("digest", "roster head", head),
        ("digest", "checkpoint", ZERO),
        ("flag", "parent: none", u8(0)),
        ("flag", "share: none", u8(0)),
        ("id", "salt", salt),
        ("digest", "fields", fields),
    ])
    root = text.value("statement hash", hash_("statement", statement))
    text.note("the tree's only leaf, and so its root")
    signature = text.value("save's signature", sign(signing_seed, "statements", root, u32(1)))

    text.step("8. The reader: verify, then open")
    verify(signing_key, signature, "statements", root, u32(1))
    text.note("the signature over root and leaf count holds (R-READ-5); then, with the grant and the seed:")
    opened = text.value("epoch key", hpke.open_(grant_seed, grant, "grant", *context, *subject))
    keyed = text.value("its keyID", hash_("key-id", *context, opened))
    unwrapped = text.value(
        "record key", open_(kdf(opened, "record-wrap", *context), wrapped, "record-key", *context, record_context))
    plain = text.value("title, opened", open_(unwrapped, sealed, "sealed-field", record_context, b"title", u8(1)))
    if (opened, keyed, unwrapped, plain) != (epoch_key, key_id, record_key, padded):
        raise AssertionError("what was sealed does not open")
    length = int.from_bytes(plain[1:5], "little")
    text.note(f"title: {plain[5 : 5 + length].decode()}")

    text.step("9. Its deletion, with which nothing goes along")
    text.value("tombstone's fields", taken(ZERO, 0))

    text.step("10. The zone shared: URL, link id, an invitation's keys, preview")
    secret = text.value("link secret (drawn)", drawn("link secret", 32))
    routing = text.value("routing id (drawn)", drawn("routing id", 16))
    commitment = text.value("URL's commitment", hash_("link", scope)[:16])
    text.note(f"{ORIGIN}/s/{url_part(routing)}")
    text.note(f"  #{url_part(u8(1) + secret + commitment)}")
    text.value("link id", kdf(secret, "link-id", scope))
    invitation = text.value("invitation (drawn)", drawn("invitation", 16))
    invitation_seed = kdf(secret, "invitation/sign", scope, invitation)
    text.value("its signing key", public_signing_key(invitation_seed))
    text.value("its grant key", xwing.public_key(kdf(secret, "invitation/grant", scope, invitation)))
    shown = (b"Trip", b"com.example.notes.list", b"")
    signed = (user, u64(0), head, i64(time), *shown)
    preview_signature = sign_bytes(signing_seed, labelled("preview-signature", scope, *signed))
    preview = text.structure("preview", [
        ("id", "author", user),
        ("u64", "roster sequence", u64(0)),
        ("digest", "roster head", head),
        ("i64", "time", i64(time)),
        ("blob", "title", blob(shown[0])),
        ("blob", "share type", blob(shown[1])),
        ("blob", "thumbnail", blob(shown[2])),
        ("raw 64", "signature", preview_signature),
    ])
    text.note(f"padded from {len(preview)} to {len(pad(preview))} bytes, and sealed:")
    preview_key = text.value(
        "preview key", hashlib.blake2b(labelled("preview-key", scope), key=secret, digest_size=32).digest())
    nonce = drawn("preview's nonce", 16) + u64(0)
    text.value("sealed preview", nonce + sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(
        pad(preview), labelled("preview", scope), nonce, preview_key))
    return text.values


def within(page: str) -> str:
    """What PROTOCOL.md holds."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        sys.exit(f"{PAGE.name} has no place for the example, or more than one")
    return page.split(BEGIN)[1].split(END)[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--full", action="store_true", help="shorten nothing")
    choice.add_argument("--check", action="store_true", help=f"compare with {PAGE.name}")
    choice.add_argument("--write", action="store_true", help=f"put it into {PAGE.name}")
    choice.add_argument("--verify", action="store_true", help="put it through the verifier's own decoders and rules")
    arguments = parser.parse_args()
    if arguments.verify:
        try:
            through_verifier()
        except Refused as refusal:
            print(f"the verifier refuses the example: {refusal}", file=sys.stderr)
            return 1
        print("the verifier takes the example's entry, grant and statement")
        return 0
    computed = example(arguments.full)
    if not arguments.check and not arguments.write:
        sys.stdout.write(computed)
        return 0
    page = PAGE.read_text(encoding="utf-8")
    held = within(page)
    if arguments.write:
        PAGE.write_text(page.replace(BEGIN + held + END, BEGIN + computed + END), encoding="utf-8")
        return 0
    if held == computed:
        print(f"{PAGE.name} holds the example as it is computed ({len(computed.splitlines())} lines)")
        return 0
    expected, found = computed.splitlines(), held.splitlines()
    differing = [i for i in range(max(len(expected), len(found))) if expected[i : i + 1] != found[i : i + 1]]
    print(f"{PAGE.name} holds another example; its line {differing[0] + 1} is", file=sys.stderr)
    print(f"  {''.join(found[differing[0] : differing[0] + 1])}", file=sys.stderr)
    print(f"and computed is\n  {''.join(expected[differing[0] : differing[0] + 1])}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
