import Foundation
import SealKit

/// How an audit looks.
enum AuditText {
    static func text(_ audit: Audit) -> String {
        var lines: [String] = []
        for scope in audit.scopes { lines += self.lines(scope) }
        let verified = audit.contacts.count { $0.isVerified }
        lines.append("\(audit.contacts.count.counted("contact")), \(verified) verified")
        for contact in audit.contacts where contact.needsAttention { lines.append("  " + ContactText.line(contact)) }
        for device in audit.newDevices {
            lines.append("not acknowledged: " + DeviceText.line(device))
        }
        if !audit.newDevices.isEmpty {
            lines.append(
                "  sealkit device acknowledge says that a device is the account's; if it is not, sealkit device revoke")
        }
        for failure in audit.failures {
            lines.append(
                "not checked: \(name(failure.zoneID)): \(failure.error.said.escaped.withNames) [\(failure.error.code.rawValue.escaped)]"
            )
        }
        for violation in audit.violations {
            lines.append(
                "violation \(Timestamp.shown(violation.lastSeen)) \(name(violation.zoneID)): \(violation.said.escaped.withNames) [\(violation.code.rawValue.escaped)]"
            )
        }
        for accepted in audit.acceptances {
            lines.append(
                "accepted \(Timestamp.shown(accepted.accepted)) \(name(accepted.zoneID)): record \(accepted.recordName.escaped), which came late, "
                    + "signed by \(accepted.authorUserRecordID.recordName.escaped.withNames)")
        }
        lines.append("\(audit.outcome)")
        return lines.joined(separator: "\n")
    }

    private static func lines(_ scope: Audit.Scope) -> [String] {
        let keys = scope.keys
        var lines = [
            name(scope.zoneID) + (scope.shareRecordName.map { " (\($0.escaped))" } ?? ""),
            "  roster  \(scope.entryCount.counted("entry", "entries")), head \(scope.head.prefix(16)), \(scope.memberCount.counted("member")), "
                + scope.invitationCount.counted("invitation"),
            "  keys    newest \(keys.newestEpoch), oldest in use \(keys.oldestEpochInUse), \(keys.staleRecordCount.counted("record")) under older ones, \(scope.heldEpochs) held",
        ]
        if keys.isRotationDue { lines.append("  a new key is due: the next member who writes opens it") }
        if scope.abandonedForks > 0 {
            lines.append("  \(scope.abandonedForks.counted("fork")) that the owner has ended")
        }
        if !scope.badGrants.isEmpty {
            let keys = zip(scope.badGrants, scope.badGrantAuthors).map {
                "\($0) (opened by \($1.recordName.escaped.withNames))"
            }
            lines.append("  BAD GRANTS of keys \(keys.joined(separator: ", "))")
        }
        if !keys.isNewestHeld {
            lines.append(
                "  NOT GIVEN key \(keys.newestEpoch): open another one with sealkit zone rotate, or ask who may")
        }
        if !scope.uncovered.isEmpty {
            lines.append("  NOT COVERED " + scope.uncovered.map(\.escaped).joined(separator: " "))
        }
        return lines
    }

    private static func name(_ zoneID: RecordZone.ID?) -> String {
        zoneID.map { "\($0)".escaped.withNames } ?? "account"
    }

    static func json(_ audit: Audit) -> [String: JSONValue] {
        [
            "outcome": .string("\(audit.outcome)"), "scopes": .array(audit.scopes.map { .object(json($0)) }),
            "contacts": .array(audit.contacts.map { .object(ContactText.json($0)) }),
            "newDevices": .array(audit.newDevices.map { .object(DeviceText.json($0)) }),
            "acceptances": .array(audit.acceptances.map { .object(json($0)) }),
            "violations": .array(audit.violations.map { .object(json($0)) }),
            "failures": .array(
                audit.failures.map { failure in
                    .object([
                        "zone": JSONValue(failure.zoneID?.zoneName), "owner": JSONValue(failure.zoneID?.ownerName),
                        "code": .string(failure.error.code.rawValue), "reason": .string(failure.error.said),
                    ])
                }),
        ]
    }

    private static func json(_ scope: Audit.Scope) -> [String: JSONValue] {
        [
            "zone": .string(scope.zoneID.zoneName), "owner": .string(scope.zoneID.ownerName),
            "share": JSONValue(scope.shareRecordName), "entries": .integer(Int64(scope.entryCount)),
            "head": .string(scope.head),
            "abandonedForks": .integer(Int64(scope.abandonedForks)), "members": .integer(Int64(scope.memberCount)),
            "invitations": .integer(Int64(scope.invitationCount)),
            "newestEpoch": .integer(Int64(scope.keys.newestEpoch)),
            "oldestEpochInUse": .integer(Int64(scope.keys.oldestEpochInUse)),
            "staleRecords": .integer(Int64(scope.keys.staleRecordCount)),
            "isRotationDue": .bool(scope.keys.isRotationDue),
            "heldEpochs": .integer(Int64(scope.heldEpochs)),
            "badGrants": .array(scope.badGrants.map { .integer(Int64($0)) }),
            "badGrantAuthors": .array(scope.badGrantAuthors.map { .string($0.recordName) }),
            "isNewestHeld": .bool(scope.keys.isNewestHeld),
            "uncovered": .array(scope.uncovered.map { .string($0) }),
        ]
    }

    private static func json(_ accepted: Audit.Acceptance) -> [String: JSONValue] {
        [
            "zone": .string(accepted.zoneID.zoneName), "owner": .string(accepted.zoneID.ownerName),
            "record": .string(accepted.recordName), "author": .string(accepted.authorUserRecordID.recordName),
            "accepted": .string(Timestamp.text(accepted.accepted)),
        ].naming(accepted.authorUserRecordID.recordName, as: "authorName")
    }

    private static func json(_ violation: Violation) -> [String: JSONValue] {
        [
            "code": .string(violation.code.rawValue), "reason": .string(violation.said),
            "zone": JSONValue(violation.zoneID?.zoneName),
            "owner": JSONValue(violation.zoneID?.ownerName), "record": JSONValue(violation.recordName),
            "firstSeen": .string(Timestamp.text(violation.firstSeen)),
            "lastSeen": .string(Timestamp.text(violation.lastSeen)),
        ]
    }
}
