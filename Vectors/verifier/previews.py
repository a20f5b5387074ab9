"""Section 10: what a share shows before it is accepted, signed by whoever administers it."""

from __future__ import annotations

from dataclasses import dataclass

from . import limits
from .codec import Reader, Writer, check_canonical
from .errors import Reason, present, require
from .notation import Nonces, kdf, le64, le64_signed, open_, seal, sign, verify
from .roster import Roster
from .values import check_padding, pad


@dataclass(frozen=True)
class Preview:
    author: bytes
    roster_sequence: int
    roster_head: bytes
    time: int
    title: str
    share_type: str
    thumbnail: bytes
    signature: bytes

    def encode(self) -> bytes:
        writer = Writer().id(self.author).u64(self.roster_sequence).digest(self.roster_head).i64(self.time)
        return writer.string(self.title).string(self.share_type).blob(self.thumbnail).raw(self.signature, 64).data

    @staticmethod
    def decode(plaintext: bytes) -> Preview:
        """One preview, and after it its padding."""
        reader = Reader(plaintext)
        preview = Preview(
            author=reader.id(),
            roster_sequence=reader.u64(),
            roster_head=reader.digest(),
            time=reader.i64(),
            title=reader.string(limits.PREVIEW),
            share_type=reader.string(limits.PREVIEW),
            thumbnail=reader.blob(limits.PREVIEW),
            signature=reader.raw(64),
        )
        check_padding(plaintext, reader.position)
        check_canonical(plaintext[: reader.position], preview.encode())
        return preview

    def signed_pieces(self, scope_id: bytes) -> tuple[bytes, ...]:
        head = (le64(self.roster_sequence), self.roster_head, le64_signed(self.time))
        return scope_id, self.author, *head, self.title.encode(), self.share_type.encode(), self.thumbnail

    def signed_by(self, signing_seed: bytes, scope_id: bytes) -> bytes:
        return sign(signing_seed, "preview-signature", *self.signed_pieces(scope_id))

    def is_vouched(self, roster: Roster) -> bool:
        """Whether somebody vouches for it who administers the share now. Refuses what nobody who did has signed."""
        step = next((step for step in roster.steps if step.entry.sequence == self.roster_sequence), None)
        found = step is not None and step.hash == self.roster_head
        require(found, Reason.ROSTER_HEAD, "a head that the roster does not have")
        assert step is not None
        member = step.state.members.get(self.author)
        author = present(member, Reason.AUTHOR, "a preview of somebody who was no member")
        require(author.is_administrator, Reason.AUTHOR, "a preview of somebody who administered nothing")
        pieces = self.signed_pieces(roster.scope_id)
        verify(author.chain.signing_key, self.signature, "preview-signature", *pieces)
        now = roster.state.members.get(self.author)
        return now is not None and now.is_administrator and step.state.life == roster.state.life


def _key(link_secret: bytes, scope_id: bytes) -> bytes:
    return kdf(link_secret, "preview-key", scope_id)


def seal_preview(preview: Preview, link_secret: bytes, scope_id: bytes, random: bytes) -> bytes:
    return seal(_key(link_secret, scope_id), pad(preview.encode()), Nonces(random).next(), "preview", scope_id)


def open_preview(sealed: bytes, link_secret: bytes, scope_id: bytes) -> Preview:
    """Opened, and not verified."""
    require(len(sealed) <= limits.PREVIEW, Reason.LENGTH, "a preview longer than its limit")
    return Preview.decode(open_(_key(link_secret, scope_id), sealed, "preview", scope_id))
