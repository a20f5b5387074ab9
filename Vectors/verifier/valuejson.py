"""How vectors and exports show values: {"kind": …} and the payload; a list has "list", and without elements
the kind "list". Doubles and dates are given by their bits, 64-bit numbers as decimal strings."""

from __future__ import annotations

from typing import Any

from .values import ACTIONS, KINDS, LIST, Location, Payload, Value


def _payload_json(kind: int, payload: Payload) -> dict[str, Any]:
    name = KINDS[kind]
    if isinstance(payload, str):
        return {"kind": name, "string": payload}
    if isinstance(payload, bytes):
        return {"kind": name, "data": payload.hex()}
    if isinstance(payload, int):
        is_bits = name in ("double", "date")
        return {"kind": name, "bits": f"{payload:016x}"} if is_bits else {"kind": name, "number": str(payload)}
    if isinstance(payload, Location):
        bits = [f"{bits:016x}" for bits in payload.bits]
        return {"kind": name, "bits": bits, "timestamp": f"{payload.timestamp:016x}"}
    return {"kind": name, "recordName": payload.record_name, "action": ACTIONS[payload.action]}


def value_json(value: Value) -> dict[str, Any]:
    if isinstance(value.payload, tuple):
        kind = "list" if value.tag == LIST else KINDS[value.kind]
        return {"kind": kind, "list": [_payload_json(value.kind, p) for p in value.payload]}
    return _payload_json(value.kind, value.payload)
