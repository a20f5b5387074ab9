import ArgumentParser
import Foundation
import SealKit

/// A permission as an argument.
enum PermissionArgument: String, ExpressibleByArgument, CaseIterable {
    case readOnly, readWrite

    var permission: Share.Participant.Permission { self == .readWrite ? .readWrite : .readOnly }
}

/// A public permission as an argument.
enum PublicPermissionArgument: String, ExpressibleByArgument, CaseIterable {
    case none, readOnly, readWrite

    var permission: Share.Participant.Permission {
        switch self {
        case .none: .none
        case .readOnly: .readOnly
        case .readWrite: .readWrite
        }
    }
}

/// A role that can be given, as an argument.
enum RoleArgument: String, ExpressibleByArgument, CaseIterable {
    case administrator, privateUser

    var role: Share.Participant.Role { self == .administrator ? .administrator : .privateUser }
}

enum SwitchArgument: String, ExpressibleByArgument, CaseIterable {
    case on, off
}

/// How shares and participants look.
enum ShareText {
    static func name(_ identity: Share.UserIdentity) -> String {
        switch identity.lookupInfo {
        case .emailAddress(let address), .phoneNumber(let address): address
        case .userRecordName(let name): name
        case nil: identity.userRecordID?.recordName ?? "whoever has the URL"
        }
    }

    /// What the user calls somebody, behind an id or an address.
    private static func shownName(_ identity: Share.UserIdentity) -> String {
        let shown = name(identity).escaped
        guard let user = identity.userRecordID?.recordName, user != name(identity), let given = PeopleNames.name(user)
        else {
            return shown.withNames
        }
        return "\(shown) (\(given.escaped))"
    }

    /// A line for each, in columns.
    /// - Parameter own: who looks at it, whose keys nobody has to compare.
    static func lines(_ participants: [Share.Participant], own: String? = nil) -> [String] {
        let names = participants.map { shownName($0.userIdentity) }
        let width = max(34, names.map(\.count).max() ?? 0) + 2
        return zip(participants, names).map { line($0, named: $1.padded(to: width), own: own) }
    }

    private static func line(_ participant: Share.Participant, named shown: String, own: String?) -> String {
        let user = participant.userIdentity.userRecordID?.recordName ?? "not accepted yet"
        let name = name(participant.userIdentity)
        return "  \(shown)\("\(participant.role)".padded(to: 14))\("\(participant.permission)".padded(to: 11))"
            + "\("\(participant.acceptanceStatus)".padded(to: 10))id \(participant.participantID.escaped)"
            + (name == user ? "" : "  \(user.escaped)")
            + (user == own ? "  you" : trust(participant.userIdentity).map { "  \($0)" } ?? "")
    }

    /// Who may come in without an invitation, or ask to: a line where somebody may.
    static func openness(of share: Share) -> [String] {
        var lines: [String] = []
        if share.publicPermission != .none { lines.append("  whoever has the URL may join: \(share.publicPermission)") }
        if share.allowsAccessRequests { lines.append("  whoever has the URL may ask to join") }
        return lines
    }

    /// Whether these are that person's keys: the user's own word, after a comparison. Nil where there are no keys yet.
    static func trust(_ identity: Share.UserIdentity) -> String? {
        guard identity.hasAccount else { return nil }
        return identity.isVerified ? "verified" : "not verified"
    }

    /// How to find out whether somebody's keys are that person's; nil where it is known.
    static func howToVerify(_ identity: Share.UserIdentity) -> String? {
        guard let name = identity.userRecordID?.recordName, !identity.isVerified else { return nil }
        return
            "compare safety numbers: sealkit contact show \(name.escaped), then sealkit contact verify \(name.escaped)"
    }

    /// Who may still come in by a URL of its own, as a remark after somebody was put out.
    /// - Parameter place: of the share.
    static func noteOneTime(_ share: Share, _ place: AdvisedShare, _ output: Output) {
        let open = share.openOneTimeInvitations
        guard !open.isEmpty else { return }
        output.note("Who has one of these one-time URLs may still accept, also somebody who was put out:")
        for line in lines(open) { output.note(line) }
        output.note("take one back: \(place.command("remove")) <id>")
    }

    /// After a share-wide URL was put in the place of another one.
    /// - Parameter place: of the share.
    static func noteURL(_ share: Share, _ place: AdvisedShare, _ output: Output) {
        guard share.isURLRenewed else { return }
        output.note(
            "The share has a new URL; the one before leads nowhere any more. See: \(place.command("url"))")
        for participant in share.waitingForURL {
            output.note(
                "\(shownName(participant.userIdentity)) was invited with the one before, has not accepted, and needs the new one"
            )
        }
    }

    static func json(_ participant: Share.Participant) -> JSONValue {
        var object: [String: JSONValue] = [
            "participantID": .string(participant.participantID), "role": .string("\(participant.role)"),
            "permission": .string("\(participant.permission)"), "status": .string("\(participant.acceptanceStatus)"),
            "userRecordName": JSONValue(participant.userIdentity.userRecordID?.recordName),
            "isVerified": .bool(participant.userIdentity.isVerified),
        ]
        switch participant.userIdentity.lookupInfo {
        case .emailAddress(let address): object["email"] = .string(address)
        case .phoneNumber(let number): object["phone"] = .string(number)
        case .userRecordName, nil: break
        }
        return .object(object.naming(participant.userIdentity.userRecordID?.recordName, as: "name"))
    }

    static func json(_ share: Share) -> [String: JSONValue] {
        [
            "zone": .string(share.zoneID.zoneName), "owner": .string(share.zoneID.ownerName),
            "title": .string(share.title),
            "type": .string(share.shareType), "publicPermission": .string("\(share.publicPermission)"),
            "allowsAccessRequests": .bool(share.allowsAccessRequests),
            "blocked": .array(share.blockedIdentities.map { .string($0.userRecordID.recordName) }),
            "participants": .array(share.participants.map(json)), "isURLRenewed": .bool(share.isURLRenewed),
            "openOneTimeInvitations": .array(share.openOneTimeInvitations.map { .string($0.participantID) }),
            "waitingForURL": .array(share.waitingForURL.map { .string($0.participantID) }),
        ]
    }
}

extension Share {
    /// Somebody by participant id, user name or address, or by the name that the user has given.
    func participant(named name: String) throws(SealKitError) -> Participant {
        let exact = participants.first { $0.participantID == name || $0.userIdentity.userRecordID?.recordName == name }
        let shown = participants.filter { ShareText.name($0.userIdentity).lowercased() == name.lowercased() }
        // One-time URLs are for nobody by name, and an address may be invited twice.
        guard exact != nil || shown.count < 2 else {
            throw SealKitError(
                .invalidArguments, "\(shown.count) participants of the share go by \(name)",
                remedy: "take the id that sealkit share show prints")
        }
        let found = exact ?? shown.first
        let person = PeopleNames.recordName(name)
        let called = person == name ? nil : participants.first { $0.userIdentity.userRecordID?.recordName == person }
        if let found, let called, found.participantID != called.participantID {
            throw SealKitError(
                .invalidArguments,
                "\(name) is one participant's id or address, and the name that you have given another",
                remedy: "take the id or user name that sealkit share show prints")
        }
        guard let found = found ?? called else {
            throw SealKitError(
                .unknownItem, "nobody in the share goes by \(name)",
                remedy: "take the id or user name that sealkit share show prints")
        }
        return found
    }
}

extension Share {
    func requester(named name: String) -> AccessRequester? {
        let person = PeopleNames.recordName(name)
        return requesters.first { $0.userIdentity.userRecordID?.recordName == person }
    }

    func existingRequester(named name: String) throws(SealKitError) -> AccessRequester {
        guard let found = requester(named: name) else {
            throw SealKitError(.unknownItem, "nobody by that name asks for access", remedy: "see share requests")
        }
        return found
    }
}
