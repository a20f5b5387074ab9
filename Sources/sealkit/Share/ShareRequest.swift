import ArgumentParser
import SealKit

struct ShareRequest: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "Ask the owner of a share for access to it.",
        discussion: "  sealkit share request - --contact \"Bob, bob@example.org\"")

    @OptionGroup var link: ShareURLArgument

    @Option(help: "Who you are, for the owner to recognise. Nobody else can read it.")
    var contact: String

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        try await client.container.requestShareAccess(try link.read(), contact: contact)
        try output.result("asked; once the owner has approved, accept the same URL", json: ["asked": .bool(true)])
    }
}
