import ArgumentParser
import SealKit

struct ShareAccept: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Accept a share.",
        discussion: """
            Somebody who was invited by an address that is not linked to an account yet proves the address first: the server \
            sends a code to it.

              sealkit share accept
              pbpaste | sealkit share accept - --email carol@example.org

            Then the zone is there: sealkit record list --zone Notes --owner _0123…
            """)

    @OptionGroup var link: ShareURLArgument

    @Option(help: "The invited address, should it have to be proven. Without one, it is asked for.")
    var email: String?

    @OptionGroup var code: CodeOptions
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let url = try link.read()
        var token: VerificationToken?
        var metadata = try await metadata(url, client)
        if metadata == nil {
            output.note("The share waits for somebody without an account. Prove the address that was invited.")
            let address = try email ?? Prompt.line("Address: ", missing: "no address was given")
            token = try await code.verify(address, for: url, client, output)
            metadata = try await client.container.shareMetadata(for: url)
        }
        guard let metadata else { return }
        let zoneID = try await client.container.accept(metadata, token: token)
        output.result(
            metadata.text(.accepted)
                + "\nRead it with: sealkit record list --zone \(zoneID.zoneName.escaped) --owner \(zoneID.ownerName.escaped)",
            bare: "\(zoneID.ownerName.escaped)/\(zoneID.zoneName.escaped)", json: metadata.json(.accepted))
    }

    /// nil when an address has to be proven first.
    private func metadata(_ url: String, _ client: Client) async throws(SealKitError) -> Share.Metadata? {
        do { return try await client.container.shareMetadata(for: url) } catch {
            guard error.code == .participantMayNeedVerification else { throw error }
            return nil
        }
    }
}
