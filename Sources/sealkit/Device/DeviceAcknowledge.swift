import ArgumentParser
import SealKit

struct DeviceAcknowledge: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge",
        abstract: "Say of new devices that you know them.",
        discussion: """
              sealkit device acknowledge 1f3a

            Until then they are shown as new. One that you do not know: sealkit device revoke.
            """)

    @Argument(help: "The devices: ids, their beginnings, or names.")
    var devices: [String]

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let new = try await client.account.newDevices()
        var known: [Device] = []
        for device in devices { known.append(try DeviceArgument.find(device, in: new)) }
        try await client.account.acknowledge(known)
        output.result(
            known.map { "acknowledged \($0.id) \($0.name.escaped)" }.joined(separator: "\n"), bare: DeviceText.bare(known),
            json: DeviceText.json(known))
    }
}
