"""How our refusals relate to the vectors' `reason`s, which bind nobody.

A test that is refused for another cause than meant tests something else than it says. `--reasons` lists
those; `ACCEPTED` holds the pairs that were looked into and are the same cause, seen at another place.
"""

from __future__ import annotations

from .errors import Reason

SAME = {
    "malformed": Reason.MALFORMED,
    "invalidLength": Reason.LENGTH,
    "invalidName": Reason.NAME,
    "unsupported": Reason.UNSUPPORTED,
    "invalidSignature": Reason.SIGNATURE,
    "authenticationFailed": Reason.AUTHENTICATION,
    "keyMismatch": Reason.KEY_MISMATCH,
    "missingKey": Reason.MISSING_KEY,
    "invalidIdentity": Reason.IDENTITY,
    "wrongContext": Reason.CONTEXT,
    "notNextEntry": Reason.NOT_NEXT,
    "changeNotPermitted": Reason.NOT_PERMITTED,
    "changeNotApplicable": Reason.NOT_APPLICABLE,
    "epochRequired": Reason.EPOCH_REQUIRED,
    "coverageMismatch": Reason.COVERAGE,
    "unknownRosterHead": Reason.ROSTER_HEAD,
    "staleEpoch": Reason.STALE_EPOCH,
    "authorNotPermitted": Reason.AUTHOR,
    "invalidProof": Reason.PROOF,
    "invalidURL": Reason.URL,
    "weakParameters": Reason.PARAMETERS,
    "invalidKey": Reason.KEY,
    "renewalRequired": Reason.RENEWAL,
    "tooManyParticipants": Reason.PARTICIPANTS,
    "notSuccessor": Reason.SUCCESSOR,
    "invalidNotice": Reason.DELETION,
    "fieldMismatch": Reason.FIELDS,
    "mistypedRecoveryKey": Reason.RECOVERY_KEY,
}

# (file, comment of the test): our reason, and why that is the same cause.
ACCEPTED: dict[tuple[str, str], tuple[Reason, str]] = {
    ("roster", "something else before it"): (Reason.NOT_APPLICABLE, "an `open` has to be the only change"),
    ("roster", "acceptance as the second change"): (
        Reason.NOT_PERMITTED, "whoever could make the first change is not the acceptor"
    ),
    ("roster", "no generation"): (Reason.IDENTITY, "a chain of no generation, where it is decoded"),
    ("client-judge", "two fields that have changed places"): (
        Reason.MALFORMED, "fields out of order, where their digest is made"
    ),
}


def _cause(given: str) -> Reason:
    """What a client doubts has a name of its own, and behind a dot the core's, where that decided."""
    return SAME.get(given.rpartition(".")[2], Reason.DOUBTED)


def unexpected(file: str, comment: str, given: str | None, found: Reason) -> bool:
    """Whether a refusal has to be looked into."""
    if given is None or _cause(given) is found:
        return False
    accepted = ACCEPTED.get((file, comment))
    return accepted is None or accepted[0] is not found
