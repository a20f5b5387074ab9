"""public.json."""

from __future__ import annotations

from .. import assets
from ..errors import Disagreement
from ..fields import PUBLIC_ASSET, Field, PublicCommitment
from ..identity import signing_seed, verify_chain
from ..public import PublicDraft, sign_save
from ..reading import verify_public_statement
from ..registry import Case, check
from ..values import ASSET
from ..vectorfile import Fields
from .common import chain_of, digests_of, environment_of, proof_of, statement_of


def _draft(fields: Fields) -> PublicDraft:
    statement = statement_of(fields.child("statement"))
    if any(statement.salt) or any(statement.fields):
        raise Disagreement("a draft's statement with what signing gives it")
    return PublicDraft(statement, digests_of(fields, "fields"))


@check("public", "Sign")
def sign(case: Case) -> None:
    fields = case.fields
    drafts = [_draft(draft) for draft in fields.children("drafts")]
    seed = signing_seed(fields.hex("seed"), fields.text("container"))
    random = fields.hex("random")
    statements, signature = sign_save(drafts, seed, random)
    if fields.hexes("statements") != statements:
        raise Disagreement("other statements")
    fields.expect("signature", signature)
    if len(random) != 16 * len(drafts):
        raise Disagreement("more random than we draw")


@check("public", "Verification")
def verification(case: Case) -> None:
    fields = case.fields
    container = fields.text("container")
    author = verify_chain(chain_of(fields, "chain"), container)
    environment = environment_of(fields)
    proof = proof_of(fields.child("proof"))
    data, record = fields.hex("encoded"), fields.text("recordName")
    verify_public_statement(data, proof, record, container, environment, author)


@check("public", "Asset")
def asset(case: Case) -> None:
    fields = case.fields
    data = bytes([fields.small("byte")]) * fields.small("count")
    root = assets.root(assets.public_leaves(data))
    commitment = PublicCommitment(len(data), root)
    assets.check_public_asset(data, commitment)
    fields.expect("root", root)
    field = Field(fields.text("name"), PUBLIC_ASSET, ASSET, commitment.encode())
    field.check_database(public=True)
    fields.expect("digest", field.digest)
