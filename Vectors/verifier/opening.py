""""Look at a share", "Accept" and "Ask for access": what a URL leads to, and how a seat there is taken."""

from __future__ import annotations

from dataclasses import dataclass

from . import epochs, links, previews
from .changes import Accept
from .codec import ENVIRONMENTS, READ_WRITE, user_id
from .entries import SEAT, Entry
from .errors import Reason, Refused
from .following import Doubted, Signed
from .identity import SignedIdentity, VerifiedChain, sign_identity, signing_seed, verify_chain
from .links import ShareURL
from .notation import public_signing_key, sign
from .roster import Roster
from .scope import Scope

PERMISSIONS = {1: "readOnly", READ_WRITE: "readWrite"}


@dataclass(frozen=True)
class Place:
    """Where a share is, as a server says."""

    container: str
    environment: str
    owner: str
    zone: str
    share_record: str


@dataclass(frozen=True)
class Page:
    place: Place
    entries: tuple[Signed, ...]
    more_coming: bool
    seat: bytes
    grant: bytes
    preview: bytes


def own_chain(seeds: list[bytes], container: str) -> VerifiedChain:
    """One's identities, as every device of the account states them (R-GEN-4)."""
    generations: list[SignedIdentity] = []
    for number, seed in enumerate(seeds):
        before = (generations[-1], seeds[number - 1]) if generations else (None, b"")
        generations.append(sign_identity(seed, container, 0, *before))
    return verify_chain(tuple(generations), container)


def _scope(place: Place, url: ShareURL, container: str, environment: int) -> Scope:
    """Step 3 of "Look at a share", up to the roster."""
    if (place.container, place.environment) != (container, ENVIRONMENTS[environment]):
        raise Doubted("otherContainer")
    try:
        scope = Scope(container, environment, user_id(place.owner), place.zone, place.share_record)
        url.check_scope(scope.id)
    except Refused as refusal:
        raise Doubted("roster", refusal.reason) from None
    return scope


def open_share(url: ShareURL, server: str, container: str, environment: int, pages: list[Page]) -> tuple[Roster, Page]:
    """The roster, and the page that came last. Raises `Doubted`."""
    if url.origin != server:
        raise Doubted("otherServer")
    first = page = pages[0]
    roster = Roster(_scope(first.place, url, container, environment))
    for number, page in enumerate(pages):
        if number:
            _scope_of_next(page, first, container, environment)
        try:
            for data, signature in page.entries:
                roster.append(data, signature)
        except Refused as refusal:
            raise Doubted("roster", refusal.reason) from None
        if not roster.steps:
            raise Doubted("roster", Reason.URL)
        if not page.more_coming:
            break
    if not page.more_coming and not roster.state.is_open:
        raise Doubted("roster", Reason.NOT_APPLICABLE)
    return roster, page


def _scope_of_next(page: Page, first: Page, container: str, environment: int) -> None:
    if (page.place.container, page.place.environment) != (container, ENVIRONMENTS[environment]):
        raise Doubted("otherContainer")
    if page.place != first.place or (page.more_coming and not page.entries):
        raise Doubted("endless")


@dataclass(frozen=True)
class Shown:
    title: str
    author: bytes


def look(page: Page, roster: Roster, link_secret: bytes, seen: tuple[int, int] | None) -> Shown | None:
    """Step 4: R-PREVIEW-1 to 4. None for what nobody vouches for."""
    try:
        preview = previews.open_preview(page.preview, link_secret, roster.scope_id)
        if not preview.is_vouched(roster):
            return None
    except Refused as refusal:
        raise Doubted("preview", refusal.reason) from None
    if seen is not None and (preview.roster_sequence, preview.time) < seen:
        raise Doubted("older")
    return Shown(preview.title, preview.author)


@dataclass(frozen=True)
class Seat:
    kind: str
    permission: int
    id: bytes
    signing_key: bytes
    grant_hash: bytes  # of the entry that made it


def seat_of(page: Page, roster: Roster, user: bytes) -> Seat:
    """Step 5; a member has no seat to take."""
    state = roster.state
    if user in state.members:
        return Seat("member", state.members[user].permission, b"", b"", b"")
    if page.seat in state.invitations:
        found = state.invitations[page.seat]
        invite = found.invite
        kind = "invitation" if found.known is None else "knownInvitation"
        return Seat(kind, invite.permission, invite.id, invite.signing_key, invite.grant_hash)
    seat = state.settings.seat if state.settings is not None else None
    if state.settings is None or seat is None or seat.id != page.seat:
        raise Doubted("noSeat")
    return Seat("publicSeat", state.settings.public_permission, seat.id, seat.signing_key, seat.grant_hash)


@dataclass(frozen=True)
class Acceptance:
    entry: bytes
    signature: bytes
    key: bytes


def accept(
    seat: Seat, page: Page, roster: Roster, link_secret: bytes, seeds: list[bytes], own: VerifiedChain, time: int
) -> Acceptance:
    """"Accept", steps 2 to 4; but for the grant to oneself."""
    scope_id, state = roster.scope_id, roster.state
    if state.life is None or state.epoch is None:
        raise AssertionError("an open roster without an epoch")
    seed = links.invitation_signing_seed(link_secret, scope_id, seat.id)
    if public_signing_key(seed) != seat.signing_key:
        raise Doubted("invitation", Reason.URL)
    committed = state.epoch.grant_hashes.get((SEAT, seat.id), seat.grant_hash)
    if epochs.grant_hash(page.grant) != committed:
        raise Doubted("invitation", Reason.KEY_MISMATCH)
    # For a known person by the own keys, newest generation first.
    invitees: list[bytes | None] = list(reversed(seeds)) if seat.kind == "knownInvitation" else [None]
    key, reason = None, None
    for invitee in invitees:
        try:
            key = epochs.open_invitation_grant(
                roster, state.life, state.epoch.number, seat.id, link_secret, invitee, page.grant
            )
            break
        except Refused as refusal:
            reason = refusal.reason
    if key is None:
        raise Doubted("grant", reason)
    pieces = links.acceptance_pieces(scope_id, seat.id, own, roster.head)
    change = Accept(seat.id, own.generations, sign(seed, "acceptance", *pieces))
    entry = Entry(scope_id, len(roster.steps), roster.head, own.user, time, (change,), None).encode()
    signature = sign(signing_seed(seeds[-1], roster.scope.container), "roster-entry", entry)
    roster.copy().append(entry, signature)  # what the server and everybody else judge of it
    return Acceptance(entry, signature, key)


def owner_of(
    place: Place, chain: tuple[SignedIdentity, ...], url: ShareURL, container: str, environment: int
) -> tuple[VerifiedChain, Scope]:
    """"Ask for access", step 1."""
    scope = _scope(place, url, container, environment)
    try:
        owner = verify_chain(chain, container)
    except Refused as refusal:
        raise Doubted("owner", refusal.reason) from None
    if owner.user != scope.owner:
        raise Doubted("owner", Reason.IDENTITY)
    return owner, scope
