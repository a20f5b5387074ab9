import ArgumentParser
import Foundation
import SealKit

struct ShareInvite: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Invite somebody, and print the URL to send.",
        discussion: """
            Somebody invited by address gets a URL of its own: it is good once, and for that person. So does whoever is invited by \
            nothing but the URL (--one-time). Somebody invited by user name accepts with the share-wide URL. Who is invited already, or \
            takes part, keeps what is not given anew.

              sealkit share invite Notes carol@example.org --permission readOnly
              sealkit share invite Notes --one-time --expires-in 7
            """)

    @OptionGroup var place: ShareOptions

    @Argument(
        help: ArgumentHelp(
            "An e-mail address, a phone number (+49…), a user name, or the name that you have given somebody.",
            valueName: "person"))
    var person: String?

    @Flag(help: "Invite whoever first accepts with the URL that this prints.")
    var oneTime = false

    @Option(help: ArgumentHelp("Days after which the invitation is over.", valueName: "days"))
    var expiresIn: Int?

    @Option(help: "readOnly or readWrite. Somebody new is invited with readOnly where this is left out.")
    var permission: PermissionArgument?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (person == nil) == oneTime else {
            throw ValidationError("Name a person, or give --one-time: one of the two.")
        }
        guard expiresIn.map({ (1...3_650).contains($0) }) ?? true else {
            throw ValidationError("An invitation lasts 1 to 3650 days.")
        }
    }

    func run(_ client: Client) async throws {
        var participant = try await invitee(client)
        participant.expirationDate = expiresIn.map { Date(timeIntervalSinceNow: Double($0) * 86_400) }
        var before: [Share.Participant] = []
        let saved = try await place.change(client) { share in
            before = share.participants
            share.addParticipant(participant)
            for known in before { share.keep(known, permission: permission == nil, expirationDate: expiresIn == nil) }
        }
        // Somebody invited before keeps the participant id of then.
        let known = try? saved.participant(named: participant.participantID)
        let invited = known ?? person.flatMap { try? saved.participant(named: $0) } ?? participant
        let ownURL = saved.oneTimeURL(for: invited.participantID)
        guard let url = ownURL ?? saved.url else {
            throw SealKitError.lacking("the share's URL")
        }
        let name = person.map { PeopleNames.recordName($0).escaped.withNames } ?? "the invited person"
        let identity = invited.userIdentity
        var found = ""
        if let user = identity.userRecordID?.recordName, let trust = ShareText.trust(identity) {
            let isByAddress =
                switch identity.lookupInfo {
                case .emailAddress, .phoneNumber: true
                case .userRecordName, nil: false
                }
            let source = isByAddress && !identity.isVerified ? ": the server says that \(name) is this user" : ""
            found =
                "\(user.escaped.withNames)  \(trust)\(source)\n"
                + (ShareText.howToVerify(identity).map { "\($0)\n" } ?? "") + "\n"
        } else if person != nil {
            found = "The server knows no account of \(name): whoever proves the address takes the seat\n\n"
        }
        let former = before.first { $0.participantID == invited.participantID }
        if let former, former.permission != invited.permission {
            output.note("\(name) had \(former.permission) before, and has \(invited.permission) now")
        }
        let server = await serverForNewcomer(invited, client)
        let isAcceptable = server.flatMap(canBeProved)
        if isAcceptable == false {
            output.note(
                """
                warning: this server sends no \(person?.contains("@") == true ? "mail" : "text messages"), so nobody can prove an \
                address to it: nobody new can accept this invitation. Invite by user name or with --one-time instead, or have the \
                server's operator set it up.
                """)
        }
        if let registration = server?.registration, registration != .open {
            output.note(
                registration == .invite
                    ? "This server makes accounts by invitation: whoever has none there needs a code of its operator as well."
                    : "This server makes no new accounts: only somebody who has one there can accept.")
        }
        var json: [String: JSONValue] = [
            "url": .string(url), "isOneTime": .bool(ownURL != nil), "participantID": .string(invited.participantID),
            "permission": .string("\(invited.permission)"),
            "userRecordName": JSONValue(identity.userRecordID?.recordName),
            "isVerified": .bool(identity.isVerified),
        ]
        if let isAcceptable { json["addressCanBeProved"] = .bool(isAcceptable) }
        let told =
            if invited.acceptanceStatus == .accepted {
                "\(name) takes part already, with \(invited.permission). This URL leads there:"
            } else if ownURL != nil {
                "Send this URL to \(name), and to nobody else; it is good once:"
            } else {
                "Send the share's URL to \(name):"
            }
        do throws(SealKitError) {
            try output.result(
                found + "\(told)\n\n    \(url)\n",
                bare: url,
                json: json.naming(identity.userRecordID?.recordName, as: "name"))
        } catch {
            let person = ownURL == nil ? "" : " --for=\(invited.participantID.inShell)"
            let advised = AdvisedShare(place, global).command("url", person)
            throw error.adding(remedy: "the invitation is made, and \(advised) prints its URL")
        }
        ShareText.noteURL(saved, AdvisedShare(place, global), output)
    }

    /// What the server says of itself, where somebody is invited whom it may not know. Nil where it does not answer:
    /// the invitation is made, and this is beside it.
    private func serverForNewcomer(_ invited: Share.Participant, _ client: Client) async -> ServerInformation? {
        guard invited.userIdentity.userRecordID == nil else { return nil }
        return try? await client.account.serverInformation()
    }

    /// Whether the server can send the code that proves the invited address; nil where none is asked for.
    private func canBeProved(_ server: ServerInformation) -> Bool? {
        person.map { $0.contains("@") ? server.sendsMail : server.sendsTexts }
    }

    private func invitee(_ client: Client) async throws(SealKitError) -> Share.Participant {
        guard let person else { return .oneTimeURLParticipant(permission: wanted) }
        let handle: Share.LookupInfo
        if person.contains("@") {
            handle = .emailAddress(person)
        } else {
            let name = PeopleNames.recordName(person)
            guard person.hasPrefix("+") || name.hasPrefix("_") else {
                throw SealKitError(
                    .unknownItem, "nobody is called \(person) on this device",
                    remedy:
                        "give an e-mail address, a phone number (+49…) or a user name, which is _ and 32 hexadecimal digits; "
                        + "sealkit contact name gives people names")
            }
            handle = person.hasPrefix("+") ? .phoneNumber(person) : .userRecordName(name)
        }
        return try await client.container.shareParticipant(for: handle, permission: wanted)
    }

    private var wanted: Share.Participant.Permission { permission?.permission ?? .readOnly }
}

extension Share {
    /// Gives somebody back what they had, where they are in the share still.
    fileprivate mutating func keep(_ known: Participant, permission: Bool, expirationDate: Bool) {
        guard known.role != .owner, var now = participants.first(where: { $0.participantID == known.participantID })
        else { return }
        if permission { now.permission = known.permission }
        if expirationDate { now.expirationDate = known.expirationDate }
        addParticipant(now)
    }
}
