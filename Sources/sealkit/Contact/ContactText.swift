import ArgumentParser
import Foundation
import SealKit

/// Whom a command is about.
struct ContactArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The person's user name, as `contact list` prints it, or the name that you have given it.",
            valueName: "user"))
    var user: String

    /// - Throws: `unknownItem` for a name that nobody has here.
    func recordName() throws(SealKitError) -> String {
        let name = PeopleNames.recordName(user)
        guard name.hasPrefix("_") else {
            throw SealKitError(
                .unknownItem, "nobody is called \(user) on this device",
                remedy: "give the user name, which is _ and 32 hexadecimal digits: see sealkit contact list")
        }
        return name
    }

    func find(_ client: Client) async throws -> Contact {
        try await client.container.contacts.refreshedContact(for: Record.ID(recordName: try recordName()))
    }
}

/// How contacts look.
enum ContactText {
    static func state(_ contact: Contact) -> String {
        if contact.conflict != nil { return "OTHER KEYS SHOWN" }
        if contact.keysChanged != nil { return "new keys" }
        return contact.isVerified ? "verified" : "not compared"
    }

    static func line(_ contact: Contact) -> String {
        "\(contact.userRecordID.recordName.escaped.withNames.padded(to: 36))\(contact.name == nil ? "" : " ")\(state(contact))"
    }

    static func text(_ contact: Contact) -> String {
        var lines = [line(contact), number(contact.safetyNumber), "known since \(Timestamp.shown(contact.firstSeen))"]
        if let changed = contact.keysChanged {
            lines.append(
                "new keys seen \(Timestamp.shown(changed)), signed by those before: compare again, or accept them")
        }
        if let conflict = contact.conflict {
            lines.append("other keys shown \(Timestamp.shown(conflict.seen)); with them the safety number would be:")
            lines.append(number(conflict.safetyNumber))
            lines.append("accept them only if the person says that they are right")
        }
        return lines.joined(separator: "\n")
    }

    /// Four groups a line.
    private static func number(_ groups: [String]) -> String {
        stride(from: 0, to: groups.count, by: 4).map {
            "  " + groups[$0..<min($0 + 4, groups.count)].joined(separator: " ")
        }
        .joined(separator: "\n")
    }

    static func json(_ contact: Contact) -> [String: JSONValue] {
        [
            "userRecordName": .string(contact.userRecordID.recordName), "name": JSONValue(contact.name),
            "isVerified": .bool(contact.isVerified),
            "generation": .integer(Int64(contact.generation)), "firstSeen": .string(Timestamp.text(contact.firstSeen)),
            "keysChanged": JSONValue(contact.keysChanged.map(Timestamp.text)),
            "safetyNumber": .string(contact.safetyNumber.joined(separator: " ")),
            "conflict": contact.conflict.map { conflict in
                .object([
                    "seen": .string(Timestamp.text(conflict.seen)),
                    "safetyNumber": .string(conflict.safetyNumber.joined(separator: " ")),
                ])
            } ?? .null,
        ]
    }
}
