"""The protocol's limits: PROTOCOL.md, "Limits"."""

from __future__ import annotations

NAME = 255
STRING = 1_048_576
RECORD = 1_048_576
FIELDS = 1_000
STATEMENTS = 400
PARTICIPANTS = 100  # members and open invitations beside the owner
BLOCKED = 1_000
TAKEN = 750  # records that go along with one deletion
HEADS = 100_000  # that come along at an enrolment
ENTRY = 1_048_576
CHANGES = 1_024  # of an entry
IDENTITY = 4_096
GENERATIONS = 64
GRANT = 4_096
ADDRESS = 4_096
ADDRESSES = 101
SEALED_LINK = 4_096
PREVIEW = 65_536
CHUNK = 65_536
CHUNKS = 2**32
ASSET = 2**48
TOKEN = 8_192
ARGON2_PASSES = range(3, 16 + 1)
ARGON2_KIBIBYTES = range(262_144, 4_194_304 + 1)
REVISION = 2**62 - 1

# Lengths that the constructions give ("Notation", "Identity", "Record sealing").
WRAPPED_KEY = 72
DESCRIPTOR = 80
GRANT_KEY = 1_216
