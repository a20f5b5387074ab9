"""An independent implementation of SealKit's protocol, for checking vectors and exports.

Written from PROTOCOL.md alone. One concern a module; quoted titles and numbered rules are those of PROTOCOL.md.

To extend it:

* a label: `labels.NAMES`; a limit: `limits`.
* a roster change: a class and a line of `CHANGES` in `changes.py`, its rule in `rules_scope.py` or
  `rules_people.py` and a line of `RULES` in `rules.py`; what it leaves behind: `State` in `roster.py`.
* a check of readers: `reading.py`; what a statement's bytes and its predecessor say: `statements.py`.
* a vector file or a type of group: a function with `@check(file, group)` in a module of `checks/`. It reads
  a test's inputs, does what an implementation would, and compares each output with `Fields.expect`; a
  field of a valid test that no one looked at is a disagreement.
* a reason of the vectors: `reasons.SAME`.

`verify.py --isolation` lists invalid tests that would be refused without the check that refuses them. Each
`require` has words of its own, since checks are switched off by what they say.

Refusals are `errors.Refused` and deliberate. Any other exception is a failure of the verifier.
"""
