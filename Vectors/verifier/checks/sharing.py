"""epochs.json, grants.json, links.json, paseto.json."""

from __future__ import annotations

from .. import epochs, links, paseto, previews
from ..codec import user_id, user_record_name
from ..errors import Disagreement, Reason, require
from ..identity import grant_seed
from ..notation import Nonces, public_signing_key
from ..registry import Case, check
from ..roster import Roster
from ..scope import Life
from .common import context_of, roster_of


@check("epochs", "KeyID")
def key_id(case: Case) -> None:
    context, key = context_of(case.fields.child("context")), case.fields.hex("key")
    epochs.check_key(context, key, case.fields.hex("keyID"))


def _life(roster: Roster) -> Life:
    if roster.state.life is None:
        raise Disagreement("a roster without an entry")
    return roster.state.life


@check("epochs", "PreviousKey")
def previous_key(case: Case) -> None:
    roster, fields = roster_of(case.shared), case.fields
    key, life = fields.hex("key"), _life(roster)
    number, earlier = fields.small("epoch"), fields.small("previousEpoch")
    before, after = roster.context(life, earlier), roster.context(life, number)
    previous = epochs.open_previous_key(after, key, fields.hex("sealed"))
    epochs.check_key(before, previous, roster.epoch(life, earlier).key_id)
    epochs.check_key(after, key, roster.epoch(life, number).key_id)
    fields.expect("previous", previous)
    nonce = Nonces(fields.hex("random")).next()
    fields.expect("sealed", epochs.seal_previous_key(after, key, previous, nonce))


@check("grants", "MemberGrant")
def member_grant(case: Case) -> None:
    roster, fields = roster_of(case.shared), case.fields
    user, seed = user_id(fields.text("userRecordName")), fields.hex("seed")
    key = epochs.open_member_grant(roster, _life(roster), fields.small("epoch"), user, seed, fields.hex("sealed"))
    fields.expect("key", key)


@check("grants", "InvitationGrant")
def invitation_grant(case: Case) -> None:
    roster, fields = roster_of(case.shared), case.fields
    invitee = fields.hex("seed") if "seed" in fields else None
    key = epochs.open_invitation_grant(
        roster, _life(roster), fields.small("epoch"), fields.hex("invitationID"), fields.hex("linkSecret"),
        invitee, fields.hex("sealed"),
    )
    fields.expect("key", key)


@check("grants", "PublicGrant")
def public_grant(case: Case) -> None:
    invitation_grant(case)


@check("grants", "GrantHash")
def grant_hash(case: Case) -> None:
    case.fields.expect("hash", epochs.grant_hash(case.fields.hex("sealed")))


@check("grants", "SealedLink")
def sealed_link(case: Case) -> None:
    roster, fields = roster_of(case.shared), case.fields
    seed, reader = grant_seed(fields.hex("seed"), roster.scope.container), user_id(fields.text("userRecordName"))
    scope, expected = fields.hex("scopeID"), fields.hex("linkID")
    secret = links.open_sealed_link(seed, fields.hex("sealed"), scope, expected, reader)
    fields.expect("linkSecret", secret)
    fields.expect("scopeID", roster.scope_id)
    if roster.state.settings is None or roster.state.settings.link_id != expected:
        raise Disagreement("not the link id of the roster's settings")
    fields.expect("linkID", links.link_id(secret, roster.scope_id))


@check("grants", "SealedAddress")
def sealed_address(case: Case) -> None:
    roster, fields = roster_of(case.shared), case.fields
    seed = grant_seed(fields.hex("seed"), roster.scope.container)
    address = epochs.open_address(
        seed, fields.hex("scopeID"), fields.hex("invitationID"), user_id(fields.text("userRecordName")),
        fields.hex("sealed"),
    )
    fields.expect("address", address)
    fields.expect("scopeID", roster.scope_id)


@check("grants", "SealedContact")
def sealed_contact(case: Case) -> None:
    roster, fields = roster_of(case.shared), case.fields
    seed = grant_seed(fields.hex("seed"), roster.scope.container)
    contact = epochs.open_contact(
        seed, fields.hex("scopeID"), fields.hex("requestID"), user_id(fields.text("userRecordName")),
        fields.hex("sealed"),
    )
    fields.expect("contact", contact)
    fields.expect("scopeID", roster.scope_id)


@check("links", "InvitationKeys")
def invitation_keys(case: Case) -> None:
    fields = case.fields
    inputs = fields.hex("linkSecret"), fields.hex("scopeID"), fields.hex("invitationID")
    signing_key, grant_key = links.invitation_keys(*inputs)
    fields.expect("signingKey", signing_key)
    fields.expect("grantKey", grant_key)
    fields.expect("grantSeed", links.invitation_grant_seed(*inputs))


@check("links", "LinkID")
def link_id(case: Case) -> None:
    found, fields = links.link_id(case.fields.hex("linkSecret"), case.fields.hex("scopeID")), case.fields
    require(found == fields.hex("linkID"), Reason.KEY_MISMATCH, "another link id")


@check("links", "URL")
def url(case: Case) -> None:
    fields = case.fields
    parsed = links.ShareURL.parse(fields.text("url"))
    parsed.check_scope(fields.hex("scopeID"))
    fields.expect("origin", parsed.origin)
    fields.expect("routingID", parsed.routing_id)
    fields.expect("linkSecret", parsed.link_secret)
    fields.expect("url", str(parsed))


@check("links", "Preview")
def preview(case: Case) -> None:
    roster, fields = roster_of(case.shared), case.fields
    case.shared.text("state")  # for people
    link_secret, scope_id = fields.hex("linkSecret"), roster.scope_id
    opened = previews.open_preview(fields.hex("sealed"), link_secret, scope_id)
    fields.expect("isVouched", opened.is_vouched(roster))
    fields.expect("author", user_record_name(opened.author))
    fields.expect("rosterSequence", opened.roster_sequence)
    fields.expect("rosterHead", opened.roster_head)
    fields.expect("time", opened.time)
    fields.expect("title", opened.title)
    fields.expect("shareType", opened.share_type)
    fields.expect("thumbnail", opened.thumbnail)
    fields.expect("signature", opened.signature)
    fields.expect("sealed", previews.seal_preview(opened, link_secret, scope_id, fields.hex("random")))


@check("paseto", "Public")
def token(case: Case) -> None:
    fields = case.fields
    seed = fields.hex("seed")
    footer, implicit = fields.text("footer").encode(), fields.text("implicit").encode()
    message = paseto.verify_token(public_signing_key(seed), fields.text("token"), footer, implicit)
    fields.expect("message", message.decode("utf-8"))
    fields.expect("token", paseto.sign_token(seed, message, footer, implicit))


@check("paseto", "KeyID")
def token_key_id(case: Case) -> None:
    case.fields.expect("kid", paseto.key_id(case.fields.hex("publicKey")))
