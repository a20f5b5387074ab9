import ArgumentParser
import SealKit

struct AccountDelete: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete the account on its server for ever, with all that it owns, and its keys here.",
        discussion: """
            Its shares end and it leaves those of others. What it wrote into others' zones, and its records in public databases, \
            stay. Nothing brings it back, the recovery key neither: to keep a copy, first sealkit data export FOLDER, once for each \
            container and each of its environments: an archive has one of them.

            It names the containers that the server knows the account in, and asks for the word "delete", unless --yes is given. \
            Cut short, it is simply run again.

            Where the server shows a share otherwise than this device has verified it, the account stays, and the error names it; \
            --despite-forks leaves such shares as the server shows them.

              sealkit account delete
            """)

    @Flag(help: "Go on where the server contradicts what this device has verified of a share.")
    var despiteForks = false

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var global: GlobalOptions

    /// There is no account left.
    static var warnsOfDevices: Bool { false }

    func run(_ client: Client) async throws {
        let user = try client.container.userRecordID().recordName
        if !confirmation.yes {
            let places = await Self.places(of: client)
            try confirmation.confirm(
                "This deletes the account \(global.accountLabel.escaped) at \(client.account.server), which is \(user) in "
                    + "\(global.containerIdentifier), and everything in it, for ever and in every container\(places), "
                    + "development and production",
                typing: "delete")
        }
        let lock = try KeyFileLock(beside: global.keyFileURL)
        defer { withExtendedLifetime(lock) {} }
        try await delete(client.account, trust: despiteForks ? nil : client.trust)
        TrustFiles.remove(beside: global.keyFileURL)
        try GlobalOptions.accounts.left(global.keyFileURL)
        try output.result("deleted", json: ["deleted": .bool(true), "server": .string(client.account.server)])
    }

    /// Where there may be something to keep. An account that was deleted before this is run again has no containers any
    /// more: that they cannot be asked for keeps nobody from it.
    private static func places(of client: Client) async -> String {
        guard let containers = try? await client.account.containerIdentifiers(client.trust), !containers.isEmpty else {
            return ""
        }
        return " (\(containers.joined(separator: ", ").escaped))"
    }

    private func delete(_ account: Account, trust: TrustStore?) async throws(SealKitError) {
        do { try await account.delete(trust: trust) } catch {
            guard trust != nil, [.rollback, .integrityFailure].contains(error.code) else { throw error }
            throw SealKitError(
                error.code, error.reason,
                remedy:
                    "try again later, have the zone's owner end the fork (sealkit zone end-fork), or go on with --despite-forks"
            )
        }
    }
}
