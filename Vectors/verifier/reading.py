""""Steps of reading": what a reader checks, in its order, before it shows anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .codec import ZERO_DIGEST
from .deletions import NOTHING_TAKEN
from .errors import Reason, Refused, present, require
from .identity import Identity, VerifiedChain
from .roster import Roster, Step
from .scope import Life, Scope
from .statements import SAVE, Statement, check_later, statement_hash
from .tree import root_of_path, verify_root

PUBLIC_ZONE = "_defaultZone"
USERS = "Users"
NOBODY = bytes(16)


@dataclass(frozen=True)
class Proof:
    """What a record travels with."""

    signature: bytes
    leaf_count: int
    index: int
    path: tuple[bytes, ...]


def verify_statement(
    data: bytes, proof: Proof, record: str, roster: Roster, carrying_over: bool = False
) -> Statement:
    """Steps 1 to 5. Step 6 is `fields.check_fields`, step 7 `Seen`.

    `carrying_over`: the reader is a device of the owner's, which takes what an earlier life of a share has.
    """
    statement = Statement.decode(data)
    _check_place(statement, record, roster.scope, roster.scope_id)  # step 1
    known = statement.roster_sequence < len(roster.steps)
    require(known, Reason.ROSTER_HEAD, "a roster entry that is not there")
    step = roster.steps[statement.roster_sequence]
    require(step.hash == statement.roster_head, Reason.ROSTER_HEAD, "a forked roster")  # step 2
    _check_epoch(statement, roster, step, carrying_over)  # step 3
    key = _author_key(statement, step, roster.scope)  # step 4
    _check_proof(data, proof, key)  # step 5
    return statement


def verify_public_statement(
    data: bytes, proof: Proof, record: str, container: str, environment: int, author: VerifiedChain
) -> Statement:
    """Steps 1 to 5 in the public database: the author's chain in place of a roster."""
    statement = Statement.decode(data)
    scope = Scope(container, environment, NOBODY, PUBLIC_ZONE, "")
    _check_place(statement, record, scope, ZERO_DIGEST)
    shares = statement.share is None and not statement.is_share
    require(shares, Reason.CONTEXT, "something of a share in the public database")
    require(statement.author == author.user, Reason.AUTHOR, "somebody else's identity")
    is_own = statement.type != USERS or statement.record == "_" + author.user.hex()
    require(is_own, Reason.AUTHOR, "the record of somebody else's person")
    covers = statement.kind == SAVE or statement.fields == NOTHING_TAKEN
    require(covers, Reason.FIELDS, "a deletion that takes others along")
    keys = [Identity.decode(generation.data).signing_key for generation in author.generations]
    for key in keys[:-1]:
        try:
            _check_proof(data, proof, key)
        except Refused as refusal:
            if refusal.reason is not Reason.SIGNATURE:
                raise
        else:
            return statement
    _check_proof(data, proof, keys[-1])
    return statement


def verify_departure(data: bytes, proof: Proof, record: str, roster: Roster) -> tuple[Statement, int | None]:
    """R-MOVE-6: a record that left this scope; with the epoch in which the key that signed it was replaced here, if it was."""
    statement, scope = Statement.decode(data), roster.scope
    require(statement.container == scope.container, Reason.CONTEXT, "a departure in another container")
    require(statement.environment == scope.environment, Reason.CONTEXT, "a departure in another environment")
    require(statement.owner == scope.owner, Reason.CONTEXT, "a departure of another owner's record")
    require(statement.zone == scope.zone, Reason.CONTEXT, "a departure in another zone")
    require(statement.record == record, Reason.CONTEXT, "the departure of another record")
    require(statement.author == scope.owner, Reason.CONTEXT, "a departure by somebody else than the owner")
    require(statement.scope_id != roster.scope_id, Reason.CONTEXT, "a departure into the same scope")
    former, life = statement.former_scope, present(roster.state.life, Reason.STALE_EPOCH, "a roster without a life")
    from_here = former is not None and former.scope_id == roster.scope_id
    require(from_here, Reason.CONTEXT, "a departure from another scope")
    current = (statement.zone_incarnation, former.incarnation if former else 0) == (life.zone, life.scope)
    require(current, Reason.STALE_EPOCH, "a departure from an earlier life")
    owner = present(roster.state.chains.get(scope.owner), Reason.AUTHOR, "an owner whom the roster does not know")
    counts = [len(step.state.chains[scope.owner].generations) for step in roster.steps]
    opening = next(number for number, step in enumerate(roster.steps) if step.state.life == life)
    for generation in range(len(owner.generations) - 1, counts[opening] - 2, -1):
        key = Identity.decode(owner.generations[generation].data).signing_key
        try:
            _check_proof(data, proof, key)
        except Refused as refusal:
            if refusal.reason is not Reason.SIGNATURE:
                raise
            continue
        told = next((number for number, count in enumerate(counts) if count - 1 > generation), None)
        epoch = roster.steps[told - 1].state.epoch if told else None
        return statement, None if epoch is None else epoch.number
    raise Refused(Reason.SIGNATURE, "a departure by none of the owner's keys of this life")


def _check_place(statement: Statement, record: str, scope: Scope, scope_id: bytes) -> None:
    require(statement.container == scope.container, Reason.CONTEXT, "a statement of another container")
    require(statement.environment == scope.environment, Reason.CONTEXT, "a statement of another environment")
    require(statement.owner == scope.owner, Reason.CONTEXT, "a statement of another owner's zone")
    require(statement.zone == scope.zone, Reason.CONTEXT, "a statement of another zone")
    require(statement.scope_id == scope_id, Reason.CONTEXT, "a statement of another scope")
    require(statement.record == record, Reason.CONTEXT, "another record than the one asked for")
    created = statement.revision != 1 or statement.creator == statement.author
    require(created, Reason.CONTEXT, "a first revision in another creator's name")


def _check_epoch(statement: Statement, roster: Roster, step: Step, carrying_over: bool) -> None:
    """The epoch then in force, in the roster's present life."""
    epoch, life = step.state.epoch, step.state.life
    in_force = epoch is not None and (life, epoch.number) == (statement.life, statement.epoch)
    require(in_force, Reason.STALE_EPOCH, "not the epoch in force at its head")
    present_life = present(roster.state.life, Reason.STALE_EPOCH, "a roster without a life")
    current = present_life == statement.life or (
        carrying_over and roster.scope.share_record != "" and _earlier(statement.life, present_life)
    )
    require(current, Reason.STALE_EPOCH, "a statement of an earlier life")


def _earlier(life: Life, present_life: Life) -> bool:
    """An earlier life of the share, in the same life of the zone."""
    return life.zone == present_life.zone and life.scope < present_life.scope


def _author_key(statement: Statement, step: Step, scope: Scope) -> bytes:
    author = present(step.state.members.get(statement.author), Reason.AUTHOR, "the author was no member")
    require(author.may_write, Reason.AUTHOR, "the author might not write")
    is_share = statement.is_share or statement.record == scope.share_record
    require(not is_share or author.is_administrator, Reason.AUTHOR, "the share is an administrator's")
    moves = statement.former_scope is not None
    require(not moves or statement.author == scope.owner, Reason.AUTHOR, "a change of scope is the owner's")
    return author.chain.signing_key


def _check_proof(data: bytes, proof: Proof, key: bytes) -> None:
    root = root_of_path(statement_hash(data), proof.index, proof.leaf_count, proof.path)
    verify_root(key, proof.signature, root, proof.leaf_count)


@dataclass
class Seen:
    """Step 7: the newest statement that was seen of each record, by its zone incarnation and name."""

    newest: dict[tuple[object, ...], tuple[Statement, bytes]] = field(default_factory=dict)

    def take(self, data: bytes) -> None:
        """Refuses what goes back, forks, or does not follow."""
        statement, digest = Statement.decode(data), statement_hash(data)
        key = (*statement.zone_place, statement.record)
        if key in self.newest:
            before, before_hash = self.newest[key]
            require(statement.revision >= before.revision, Reason.STALE, "an older revision than one seen")
            if statement.revision == before.revision:
                require(digest == before_hash, Reason.STALE, "another statement of a revision seen")
            else:
                check_later(statement, before, before_hash)
        self.newest[key] = (statement, digest)


def check_distinct(records: Sequence[str]) -> None:
    """Within one look, a record shows once: all that step 7 can say without a memory."""
    require(len(set(records)) == len(records), Reason.CONTEXT, "a record shown twice")
