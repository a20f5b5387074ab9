"""`--export`: a zone's share URLs, and what they show ("Invitations and URLs")."""

from __future__ import annotations

from .changes import Invite
from .codec import user_record_name
from .errors import Reason, Refused, require
from .exportfile import Export, Part, Share
from .links import ShareURL, invitation_keys, link_id
from .previews import open_preview
from .roster import Roster

Rosters = dict[bytes, Roster]  # by scopeID
Lines = list[dict[str, object]]


def show_shares(export: Export, rosters: Rosters, url: str | None) -> Lines:
    """"Preview". A preview opens with a URL's link secret alone."""
    all_shares = [share for part in export.parts for share in part.shares]
    routing_ids = [share.routing_id for share in all_shares]
    require(len(set(routing_ids)) == len(routing_ids), Reason.EXPORT, "a share twice")
    require(all(len(r) == 16 for r in routing_ids), Reason.EXPORT, "a routing id has 16 bytes")
    if url is None:
        return [sealed_share(share) for share in all_shares]
    parsed = ShareURL.parse(url)
    part, roster = scope_of(export, rosters, parsed)
    shares = [share for share in part.shares if share.routing_id == parsed.routing_id]
    require(len(shares) == 1, Reason.URL, "a routing id that the export does not have")
    matching = matching_invitations(roster, parsed.link_secret)
    settings = roster.state.settings
    share_wide = settings is not None and settings.link_id == link_id(parsed.link_secret, roster.scope_id)
    require(share_wide or len(matching) > 0, Reason.URL, "the URL is not the share-wide one, nor any invitation's")
    lines: Lines = [
        {"url": parsed.routing_id.hex(), "origin": parsed.origin, "shareWide": share_wide, "invitations": matching}
    ]
    lines += [show_preview(share, parsed, roster) for share in shares]
    return lines + [sealed_share(share) for share in all_shares if share not in shares]


def scope_of(export: Export, rosters: Rosters, url: ShareURL) -> tuple[Part, Roster]:
    """The one that the URL is of."""
    for part in export.parts[:-1]:
        try:
            url.check_scope(part.scope.id)
        except Refused:
            continue
        return part, rosters[part.scope.id]
    last = export.parts[-1]
    url.check_scope(last.scope.id)
    return last, rosters[last.scope.id]


def sealed_share(share: Share) -> dict[str, object]:
    return {"share": share.routing_id.hex(), "preview": None if share.preview is None else "sealed: its URL opens it"}


def matching_invitations(roster: Roster, link_secret: bytes) -> list[dict[str, str]]:
    """The invitations, of all lives, whose public keys this link secret gives."""
    found = []
    for step in roster.steps:
        for change in step.entry.changes:
            if not isinstance(change, Invite):
                continue
            if invitation_keys(link_secret, roster.scope_id, change.id) == (change.signing_key, change.grant_key):
                state = "open" if change.id in roster.state.invitations else "closed"
                found.append({"invitation": change.id.hex(), "entry": str(step.entry.sequence), "state": state})
    return found


def show_preview(share: Share, url: ShareURL, roster: Roster) -> dict[str, object]:
    if share.preview is None:
        return {"share": share.routing_id.hex(), "preview": None}
    preview = open_preview(share.preview, url.link_secret, roster.scope_id)
    vouched = preview.is_vouched(roster)
    shown = {"author": user_record_name(preview.author), "time": preview.time, "vouched": vouched}
    if vouched:  # otherwise it is nobody's word who administers the share now
        shown |= {"title": preview.title, "shareType": preview.share_type, "thumbnail": preview.thumbnail.hex()}
    return {"share": share.routing_id.hex(), "preview": shown}
