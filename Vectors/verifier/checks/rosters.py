"""roster.json, acceptance.json."""

from __future__ import annotations

from .. import forks, links
from ..errors import Disagreement, Refused
from ..identity import SignedIdentity, verify_chain
from ..notation import public_signing_key, sign
from ..registry import Case, check
from .common import entries_of, roster_of, scope_of


@check("roster", "ScopeID")
def scope_id(case: Case) -> None:
    case.fields.expect("scopeID", scope_of(case.fields.child("scope")).id)


@check("roster", "Replay")
def replay(case: Case) -> None:
    case.shared.text("state")  # for people
    roster = roster_of(case.shared)
    following = entries_of(case.fields, "next")
    for number, (data, signature) in enumerate(following, start=1):
        try:
            roster.append(data, signature)
        except Refused:
            if number < len(following):
                raise Disagreement("refused before the last entry") from None
            raise
    case.fields.expect("head", roster.head)


@check("roster", "Fork")
def fork(case: Case) -> None:
    case.shared.text("state")  # for people
    known, other = roster_of(case.shared), roster_of(case.shared)
    for roster, name in ((known, "known"), (other, "other")):
        for data, signature in entries_of(case.fields, name):
            roster.append(data, signature)
    case.fields.expect("succeeds", forks.succeeds(known, other))


@check("acceptance", "Acceptance")
def acceptance(case: Case) -> None:
    fields = case.fields
    identity = SignedIdentity(fields.hex("acceptor"), fields.hex("identitySignature"), b"")
    acceptor = verify_chain((identity,), fields.text("container"))
    link_secret, scope = fields.hex("linkSecret"), fields.hex("scopeID")
    invitation, head = fields.hex("invitationID"), fields.hex("head")
    seed = links.invitation_signing_seed(link_secret, scope, invitation)
    signature = fields.hex("signature")
    links.verify_acceptance(public_signing_key(seed), signature, scope, invitation, acceptor, head)
    pieces = links.acceptance_pieces(scope, invitation, acceptor, head)
    fields.expect("signature", sign(seed, "acceptance", *pieces))
