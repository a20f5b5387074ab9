import SealPrimitives
package import SealStatements

extension JSON {
    package static func scope(_ scope: Scope) -> JSON {
        .object([
            "container": .string(scope.container), "environment": .string(scope.environment.name),
            "owner": .string(scope.owner.recordName), "zoneName": .string(scope.zoneName),
            "shareRecordName": .string(scope.shareRecordName),
        ])
    }

    package static func entries(_ entries: [SignedRosterEntry]) -> JSON {
        .array(entries.map { .object(["entry": .hex($0.bytes), "signature": .hex($0.signature)]) })
    }

    package static func context(_ context: EpochContext) -> JSON {
        .object([
            "scopeID": .hex(context.scopeID), "zoneIncarnation": .number(context.incarnations.zone),
            "scopeIncarnation": .number(context.incarnations.scope), "epoch": .number(context.epoch),
        ])
    }

    package static func chain(_ signed: [SignedIdentity]) -> JSON {
        .array(
            signed.map {
                .object([
                    "identity": .hex($0.bytes), "signature": .hex($0.signature),
                    "previousSignature": .hex($0.previousSignature),
                ])
            })
    }

    package static func proof(_ proof: StatementProof) -> JSON {
        .object([
            "signature": .hex(proof.signature), "leafCount": .int(proof.leafCount), "index": .int(proof.index),
            "path": .array(proof.path.map { .hex($0) }),
        ])
    }

    package static func statement(_ statement: Statement) -> JSON {
        var fields: [String: JSON] = [
            "kind": .string(statement.kind == .delete ? "delete" : "save"), "container": .string(statement.container),
            "environment": .string(statement.environment.name),
            "owner": .string(statement.owner.recordName), "zoneName": .string(statement.zoneName),
            "zoneIncarnation": .number(statement.zoneIncarnation),
            "recordName": .string(statement.recordName), "recordType": .string(statement.recordType),
            "creator": .string(statement.creator.recordName),
            "author": .string(statement.author.recordName), "clientTime": .number(statement.clientTime),
            "revision": .number(statement.revision),
            "previous": .hex(statement.previous), "scopeID": .hex(statement.scopeID),
            "scopeIncarnation": .number(statement.scopeIncarnation),
            "epoch": .number(statement.epoch), "wrappedKey": .hex(statement.wrappedKey),
            "isKeyCarried": .bool(statement.isKeyCarried), "rosterSequence": .number(statement.rosterSequence),
            "rosterHead": .hex(statement.rosterHead), "checkpoint": .hex(statement.checkpoint),
            "salt": .hex(statement.salt), "fieldsDigest": .hex(statement.fieldsDigest),
        ]
        if let former = statement.formerScope {
            fields["formerScope"] = .object([
                "scopeID": .hex(former.scopeID), "incarnation": .number(former.incarnation),
            ])
        }
        if let parent = statement.parent { fields["parent"] = .string(parent) }
        if let share = statement.share { fields["share"] = .string(share) }
        return .object(fields)
    }
}
