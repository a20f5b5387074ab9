import ArgumentParser
import Foundation
import SealKit

struct ShareAccept: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Accept a share, with an account or without one yet.",
        discussion: """
            Whoever has no key file yet is asked whether to make an account on the share's server. Somebody who was invited by \
            an address that is not linked to an account yet proves the address: the server sends a code to it.

              sealkit share accept
              sealkit share accept - --new-account --address carol@example.org --code-command 'pass-the-code' --read < url.txt

            Then the zone is there: sealkit record list --zone Notes --owner _0123…
            """)

    @OptionGroup var link: ShareURLArgument

    @Option(
        name: [.customLong("address"), .customLong("email")],
        help: "The invited address, should it have to be proven. Without one, it is asked for.")
    var address: String?

    @Flag(help: "Make an account where there is no key file, without asking.")
    var newAccount = false

    @Option(
        help: ArgumentHelp("From the server's operator, where accounts are made by invitation only.", valueName: "code")
    )
    var registrationCode: String?

    @Flag(help: "Ask for a passphrase to seal a new account's key file with.")
    var passphrase = false

    @Flag(help: "Then show the share's records.")
    var read = false

    @OptionGroup var code: CodeOptions
    @OptionGroup var device: DeviceNameOption
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let url = try link.read()
        let isNewcomer = !FileManager.default.fileExists(atPath: global.keyFileURL.path) || global.hasUnfinishedAccount
        let client = isNewcomer ? try await newcomer(url) : try await Client(global)
        do {
            try await accept(url, client, isNewcomer: isNewcomer)
        } catch {
            await client.end()
            throw error
        }
        await client.end()
    }

    /// Somebody without an account makes one, on the server that the URL names.
    private func newcomer(_ url: String) async throws -> Client {
        let server = try Share.server(of: url)
        // Before there is an account, a recovery key to keep, or a registration code less.
        try await Share.requireSeatForNewcomer(url, transport: try global.transport(server: server))
        if !newAccount {
            output.note("There is no account at \(global.keyFileURL.path). The share is on \(server.escaped).")
            guard Prompt.isAtTerminal else {
                throw SealKitError(
                    .notAuthenticated, "there is no account to accept the share with",
                    remedy:
                        "name it with --account or --key-file, or give --new-account to make one on the share's server"
                )
            }
            guard ["y", "yes"].contains(try Prompt.answer("Make an account there? [y/N] ")?.lowercased()) else {
                throw SealKitError(.operationCancelled, "no account was made")
            }
        }
        return try await NewAccount.make(
            global, server: server, passphrase: passphrase, registrationCode: registrationCode, device: device, output)
    }

    private func accept(_ url: String, _ client: Client, isNewcomer: Bool) async throws {
        var accepted: Share.Metadata?
        let invitee = TerminalInvitee(
            account: client.account, address: address, code: code, output: output)
        let zoneID = try await client.container.accept(url, as: invitee, language: code.language) { accepted = $0 }
        guard let metadata = accepted else { return }
        // Who accepts a share of their own has the zone already.
        let owner = zoneID.ownerName == RecordZone.ID.currentUser ? nil : zoneID.ownerName
        let place: [AdvisedCommand.Given] = [("zone", zoneID.zoneName), ("owner", owner)]
        let reading = AdvisedCommand.line("record list", place + global.givenPlace)
        try output.result(
            metadata.text(.accepted) + "\nRead it with: \(reading.escapedToCopy)",
            bare: "\(zoneID.ownerName.escaped)/\(zoneID.zoneName.escaped)", json: metadata.json(.accepted))
        // Whoever came only to read has not learned how yet.
        guard read || (isNewcomer && Prompt.isAtTerminal) else { return }
        let database = client.container.sharedDatabase.fetchingAssets(.onDemand)
        var shown = ShownRecords()
        var token: ServerChangeToken?
        var isMore = true
        while isMore {
            let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
            // The share itself was just shown.
            let records = changes.modifications.filter { (try? $0.result.get().recordType) != Share.recordType }
            try shown.show(records.map { ($0.recordID, $0.result) }, output)
            (token, isMore) = (changes.changeToken, changes.moreComing)
        }
        if let failed = shown.failed { throw failed }
        output.note(shown.countText)
    }
}

/// Asks what has to be known at the terminal; without one, answers come from options and standard input, once.
private struct TerminalInvitee: Invitee {
    let account: Account
    let given: String?
    let code: CodeOptions
    let output: Output

    init(account: Account, address: String?, code: CodeOptions, output: Output) {
        (self.account, given, self.code, self.output) = (account, address, code, output)
    }

    func address(isAgain: Bool) async throws(SealKitError) -> String {
        if !isAgain {
            output.note("The share waits for somebody by their address. Prove the one that was invited.")
            if let given { return given }
        }
        return try Prompt.line(
            "Address: ", missing: "no address was given", remedy: "give the one that was invited with --address")
    }

    func code(sentTo address: String, expires: Date, triesLeft: Int) async throws(SealKitError) -> String? {
        // Said with the first question; where it cannot be asked, nothing is known against it.
        let server = triesLeft == Verification.tries ? try? await account.serverInformation() : nil
        return try code.code(
            sentTo: address, by: server, expires: expires, triesLeft: triesLeft,
            emptyLineFor: "another address or a new code", output)
    }
}
