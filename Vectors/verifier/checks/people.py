"""identity.json, safety-number.json, login.json, boxes.json, recovery.json."""

from __future__ import annotations

from .. import accounts, paseto, safety, xwing
from ..codec import user_id, user_record_name
from ..errors import Disagreement, MistypedRecoveryKey, Reason, require
from ..identity import grant_seed, sign_identity, signing_seed, verify_chain
from ..notation import le64_signed, public_signing_key, sign, verify
from ..registry import Case, check
from .common import chain_of


@check("identity", "Derivation")
def derivation(case: Case) -> None:
    fields = case.fields
    seed, container = fields.hex("seed"), fields.text("container")
    signed = sign_identity(seed, container, fields.number("time"))
    chain = verify_chain((signed,), container)
    fields.expect("identity", signed.data)
    fields.expect("signature", signed.signature)
    fields.expect("signingKey", public_signing_key(signing_seed(seed, container)))
    fields.expect("grantSeed", grant_seed(seed, container))
    fields.expect("grantKey", xwing.public_key(grant_seed(seed, container)))
    fields.expect("loginKey", public_signing_key(accounts.login_seed(seed)))
    fields.expect("storageKey", accounts.storage_key(seed))
    fields.expect("userRecordName", user_record_name(chain.user))


@check("identity", "Chain")
def chain(case: Case) -> None:
    verified = verify_chain(chain_of(case.fields, "chain"), case.fields.text("container"))
    case.fields.expect("userRecordName", user_record_name(verified.user))


@check("safety-number", "SafetyNumber")
def safety_number(case: Case) -> None:
    fields = case.fields
    container = fields.text("container")
    one, other = (verify_chain(chain_of(fields, name), container) for name in ("one", "other"))
    digits = safety.digits(container, one, other)
    fields.expect("digits", digits)
    if digits != safety.digits(container, other, one) or len(digits) != 60:
        raise Disagreement("another number for the other of them")


@check("login", "Login")
def login(case: Case) -> None:
    answered_challenge(case, "login")


@check("login", "Deletion")
def deletion(case: Case) -> None:
    answered_challenge(case, "account-deletion")


def answered_challenge(case: Case, label: str) -> None:
    fields = case.fields
    pieces = (fields.text("origin").encode(), fields.hex("challenge"), le64_signed(fields.number("time")))
    verify(fields.hex("loginKey"), fields.hex("signature"), label, *pieces)
    seed = accounts.login_seed(fields.hex("seed"))
    fields.expect("loginKey", public_signing_key(seed))
    fields.expect("signature", sign(seed, label, *pieces))


@check("login", "Device")
def device(case: Case) -> None:
    fields = case.fields
    pieces = (fields.hex("device"), fields.text("name").encode(), le64_signed(fields.number("added")))
    verify(fields.hex("loginKey"), fields.hex("signature"), "device", *pieces)
    seed = accounts.login_seed(fields.hex("seed"))
    fields.expect("loginKey", public_signing_key(seed))
    fields.expect("signature", sign(seed, "device", *pieces))


@check("login", "Rotation")
def rotation(case: Case) -> None:
    fields = case.fields
    pieces = (fields.text("origin").encode(), fields.hex("newKey"))
    verify(fields.hex("loginKey"), fields.hex("signature"), "login-rotation", *pieces)
    seed = accounts.login_seed(fields.hex("seed"))
    fields.expect("loginKey", public_signing_key(seed))
    fields.expect("signature", sign(seed, "login-rotation", *pieces))


@check("login", "Binding")
def binding(case: Case) -> None:
    fields = case.fields
    pieces = (fields.text("container").encode(), fields.hex("loginKey"))
    verify(fields.hex("signingKey"), fields.hex("signature"), "login-binding", *pieces)
    seed = signing_seed(fields.hex("seed"), fields.text("container"))
    fields.expect("signingKey", public_signing_key(seed))
    fields.expect("loginKey", public_signing_key(accounts.login_seed(fields.hex("seed"))))
    fields.expect("signature", sign(seed, "login-binding", *pieces))


@check("login", "Code")
def code(case: Case) -> None:
    fields = case.fields
    routing = fields.hex("routingID")
    require(len(routing) in (0, 16), Reason.MALFORMED, "a routing id has 16 bytes")
    origin, address, code = (fields.text(name).encode() for name in ("origin", "address", "code"))
    pieces = (origin, fields.hex("verificationID"), address, routing, code)
    verify(fields.hex("signingKey"), fields.hex("signature"), "verification-code", *pieces)


@check("login", "Webhook")
def webhook(case: Case) -> None:
    fields = case.fields
    key_id, url = (fields.text(name).encode() for name in ("keyID", "url"))
    pieces = (key_id, le64_signed(fields.number("time")), url, fields.hex("body"))
    seed = fields.hex("signingSeed")
    verify(public_signing_key(seed), fields.hex("signature"), "server/webhook", *pieces)
    fields.expect("signingKey", public_signing_key(seed))
    fields.expect("keyID", paseto.key_id(public_signing_key(seed)))
    fields.expect("signature", sign(seed, "server/webhook", *pieces))


@check("login", "Request")
def request(case: Case) -> None:
    fields = case.fields
    fields.expect("time", accounts.request_time(fields.text("date")))
    texts = [fields.text(name).encode() for name in ("method", "path", "date")]
    user = user_id(fields.text("user"))
    pieces = (fields.text("origin").encode(), user, *texts, fields.hex("nonce"), fields.hex("body"))
    seed = fields.hex("signingSeed")
    verify(public_signing_key(seed), fields.hex("signature"), "server-request", *pieces)
    fields.expect("signingKey", public_signing_key(seed))
    fields.expect("signature", sign(seed, "server-request", *pieces))


@check("boxes", "Storage")
def storage(case: Case) -> None:
    fields = case.fields
    key, purpose, context = fields.hex("key"), fields.text("purpose"), fields.hex("context")
    secret = accounts.open_storage(key, fields.hex("sealed"), purpose, context)
    fields.expect("secret", secret)
    fields.expect("sealed", accounts.seal_storage(key, secret, purpose, context, fields.hex("random")))


@check("boxes", "Password")
def password(case: Case) -> None:
    fields = case.fields
    box, passphrase = fields.hex("sealed"), fields.hex("password")
    secret = accounts.open_password_box(passphrase, box)
    fields.expect("secret", secret)
    passes, kibibytes = int.from_bytes(box[:4], "little"), int.from_bytes(box[4:8], "little")
    again = accounts.seal_password_box(passphrase, secret, passes, kibibytes, fields.hex("random"))
    fields.expect("sealed", again)


@check("recovery", "Text")
def text(case: Case) -> None:
    fields = case.fields
    try:
        key = accounts.parse_recovery_text(fields.text("text"))
    except MistypedRecoveryKey as refusal:
        if "mistypedGroups" in fields:
            fields.expect("mistypedGroups", refusal.groups)
        raise
    fields.expect("key", key)
    fields.expect("bundleID", accounts.bundle_id(key))
    typed = fields.text("text").upper().replace(" ", "-")
    if typed != accounts.recovery_text(key):
        raise Disagreement("we print it otherwise")


@check("recovery", "Bundle")
def bundle(case: Case) -> None:
    fields = case.fields
    key = fields.hex("key")
    seeds = accounts.open_bundle(key, fields.hex("sealed"))
    if fields.hexes("seeds") != seeds:
        fields.expect("seeds", [seed.hex() for seed in seeds])
    fields.expect("sealed", accounts.seal_bundle(key, b"".join(seeds), fields.hex("random")))


@check("recovery", "Passkey")
def recovery_passkey(case: Case) -> None:
    fields = case.fields
    opens(fields, accounts.passkey_key(fields.hex("output"), fields.text("origin")))


@check("recovery", "Passphrase")
def recovery_passphrase(case: Case) -> None:
    fields = case.fields
    opens(fields, accounts.passphrase_key(fields.hex("passphrase"), fields.text("name"), fields.text("origin")))


def opens(fields: Fields, key: bytes) -> None:
    seeds = accounts.open_bundle(key, fields.hex("sealed"))
    if fields.hexes("seeds") != seeds:
        fields.expect("seeds", [seed.hex() for seed in seeds])
    fields.expect("key", key)
    fields.expect("bundleID", accounts.bundle_id(key))
