import ArgumentParser
import SealKit

struct DeviceAcknowledge: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge",
        abstract: "Say of new devices that you know them.",
        discussion: """
              sealkit device acknowledge 1f3a

            Until then they are shown as new. One that you do not know: sealkit device revoke. To acknowledge one again is no error.
            """)

    @Argument(help: "The devices: ids, their beginnings, or names.")
    var devices: [String]

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        // Also one that is still told of, though it has gone from the list.
        var all = try await client.account.devices()
        for device in try await client.account.newDevices() where !all.contains(where: { $0.id == device.id }) {
            all.append(device)
        }
        var known: [Device] = []
        for device in devices { known.append(try DeviceArgument.find(device, in: all)) }
        try await client.account.acknowledge(known)
        try output.result(
            known.map { "acknowledged \($0.id) \($0.name.escaped)" }.joined(separator: "\n"),
            bare: DeviceText.bare(known),
            json: DeviceText.json(known))
    }
}
