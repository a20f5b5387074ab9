import ArgumentParser
import SealKit

struct DeviceName: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "name",
        abstract: "Give a device another name.",
        discussion: """
              sealkit device name 1f3a "The old laptop"
            """)

    @Argument(help: "The device: its id, the beginning of it, or its name.")
    var device: String

    @Argument(help: "Its new name.")
    var name: String

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let found = try DeviceArgument.find(device, in: try await client.account.devices())
        let devices = try await client.account.renameDevice(found.id, to: name)
        try output.result(DeviceText.lines(devices), bare: DeviceText.bare(devices), json: DeviceText.json(devices))
    }
}
