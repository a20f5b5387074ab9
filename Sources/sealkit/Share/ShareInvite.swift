import ArgumentParser
import Foundation
import SealKit

struct ShareInvite: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Invite somebody, and print the URL to send.",
        discussion: """
            Somebody invited by address gets a URL of its own: it is good once, and for that person. So does whoever is invited by \
            nothing but the URL (--one-time). Somebody invited by user name accepts with the share-wide URL.

              sealkit share invite Notes carol@example.org --permission readOnly
              sealkit share invite Notes --one-time --expires-in 7
            """)

    @OptionGroup var place: ShareOptions

    @Argument(help: ArgumentHelp("An e-mail address, a phone number (+49…), or a user name.", valueName: "person"))
    var person: String?

    @Flag(help: "Invite whoever first accepts with the URL that this prints.")
    var oneTime = false

    @Option(help: ArgumentHelp("Days after which the invitation is over.", valueName: "days"))
    var expiresIn: Int?

    @Option(help: "readOnly or readWrite.")
    var permission: PermissionArgument = .readOnly

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
        let saved = try await place.change(client) { $0.addParticipant(participant) }
        // Somebody invited before keeps the participant id of then.
        let found = try? saved.participant(named: participant.participantID)
        let invited = found ?? person.flatMap { try? saved.participant(named: $0) } ?? participant
        let ownURL = saved.oneTimeURL(for: invited.participantID)
        guard let url = ownURL ?? saved.url else {
            throw SealKitError(.serverRejectedRequest, "the server's answer lacks the share's URL")
        }
        let name = person?.escaped ?? "the invited person"
        output.result(
            ownURL != nil
                ? "Send this URL to \(name), and to nobody else; it is good once:\n\n    \(url)\n"
                : "Send the share's URL to \(name):\n\n    \(url)\n",
            bare: url,
            json: [
                "url": .string(url), "isOneTime": .bool(ownURL != nil), "participantID": .string(invited.participantID),
                "permission": .string(permission.rawValue),
            ])
    }

    private func invitee(_ client: Client) async throws(SealKitError) -> Share.Participant {
        guard let person else { return .oneTimeURLParticipant(permission: permission.permission) }
        let handle: Share.LookupInfo
        if person.contains("@") {
            handle = .emailAddress(person)
        } else {
            handle = person.hasPrefix("+") ? .phoneNumber(person) : .userRecordName(person)
        }
        return try await client.container.shareParticipant(for: handle, permission: permission.permission)
    }
}
