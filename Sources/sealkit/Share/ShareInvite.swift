import ArgumentParser
import SealKit

struct ShareInvite: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Invite somebody, and print the URL to send.",
        discussion: """
            Somebody with an account accepts with the share-wide URL, which is good for invited people only. Somebody without one \
            gets a URL of its own: it is good once, together with the invited address.

              sealkit share invite Notes carol@example.org --permission readOnly
            """)

    @Argument(help: "The zone.")
    var zone: String

    @Argument(help: ArgumentHelp("An e-mail address, or a user name.", valueName: "email"))
    var person: String

    @Option(help: "readOnly or readWrite.")
    var permission: PermissionArgument = .readOnly

    @OptionGroup var shared: SharedRecordOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        var share = try await client.ownShare(zone, shared)
        let participant: Share.Participant
        if person.hasPrefix("_"), !person.contains("@") {
            participant = try await client.container.shareParticipant(
                forUserRecordID: Record.ID(recordName: person), permission: permission.permission)
        } else {
            participant = try await client.container.shareParticipant(forEmailAddress: person, permission: permission.permission)
        }
        share.addParticipant(participant)
        let saved = try await client.container.privateDatabase.save(share)
        // Somebody invited before keeps the participant id of then.
        let invited = (try? saved.participant(named: participant.participantID)) ?? (try? saved.participant(named: person)) ?? participant
        let ownURL = saved.oneTimeURL(for: invited.participantID)
        guard let url = ownURL ?? saved.url else {
            throw SealKitError(.serverRejectedRequest, "the server's answer lacks the share's URL")
        }
        let isOneTime = ownURL != nil
        output.result(
            isOneTime
                ? "\(person.escaped) has no account yet. Send this URL to nobody else; it is good once:\n\n    \(url)\n"
                : "\(person.escaped) has an account. Send the share's URL:\n\n    \(url)\n",
            bare: url,
            json: [
                "url": .string(url), "isOneTime": .bool(isOneTime), "participantID": .string(invited.participantID),
                "permission": .string(permission.rawValue),
            ])
    }
}
