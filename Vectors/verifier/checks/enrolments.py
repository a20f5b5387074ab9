"""enrolment.json."""

from __future__ import annotations

from .. import enrolment
from ..enrolment import Answer, Opening, Package, RosterHead
from ..errors import Disagreement
from ..registry import Case, check
from ..vectorfile import Fields


def _answer(fields: Fields) -> Answer:
    return Answer(fields.hex("answer"), fields.hex("loginKey"))


@check("enrolment", "Transcript")
def transcript(case: Case) -> None:
    fields = case.fields
    identifier, committed = fields.hex("enrolmentID"), fields.hex("commitment")
    opening = Opening(fields.hex("key"), fields.hex("nonce"))
    enrolment.check_opening(identifier, committed, opening)
    found = enrolment.transcript(identifier, committed, _answer(fields), opening)
    fields.expect("transcript", found)
    fields.expect("code", enrolment.code(found))


@check("enrolment", "Package")
def package(case: Case) -> None:
    fields = case.fields
    identifier, seed = fields.hex("enrolmentID"), fields.hex("keySeed")
    opening = Opening(enrolment.key_of(seed), fields.hex("nonce"))
    answer = _answer(fields)
    found = enrolment.transcript(identifier, enrolment.commitment(identifier, opening), answer, opening)
    opened = enrolment.open_package(seed, fields.hex("sealed"), found, answer.login_key)
    heads = tuple(
        RosterHead(head.hex("scopeID"), head.number("sequence"), head.hex("head")) for head in fields.children("heads")
    )
    if opened != Package(tuple(fields.hexes("seeds")), heads):
        raise Disagreement("opens to another package")
    if Package.decode(opened.encode()) != opened:
        raise Disagreement("encodes to another package")
