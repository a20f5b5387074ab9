"""Takes from the server's database what somebody who was removed would need: rosters, grants, statements."""

import base64
import json
import sqlite3


def text(data):
    return base64.b64encode(data).decode()


def write_evidence(target, before, after, owner, zone, names):
    """`before` and `after` are copies of the database; grants of both count, whomever they are for."""
    with sqlite3.connect(after) as database:
        key = database.execute("SELECT owner, zone FROM zone WHERE owner_name = ? AND name = ?", (owner, zone)).fetchone()
        entries = database.execute(
            "SELECT entry, signature FROM roster_entry WHERE owner = ? AND zone = ? ORDER BY sequence", key).fetchall()
        records = [
            database.execute("SELECT statement FROM record WHERE owner = ? AND zone = ? AND name = ?", (*key, name)).fetchone()[0]
            for name in names
        ]
    grants = []
    for path in (before, after):
        with sqlite3.connect(path) as database:
            grants += [row[0] for row in database.execute("SELECT sealed FROM epoch_grant")]
    target.write_text(json.dumps({
        "owner": owner, "zone": zone,
        "entries": [{"entry": text(entry), "signature": text(signature)} for entry, signature in entries],
        "grants": [text(grant) for grant in grants],
        "records": [{"statement": text(statement)} for statement in records],
    }))
