import ArgumentParser
import SealKit

struct DeviceList: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "The account's devices, when they came, and when they were last seen.",
        discussion: """
              sealkit device list

            When a device was last seen is the server's word; that it is the account's is not.
            """)

    @OptionGroup var global: GlobalOptions

    /// It shows them itself.
    static var warnsOfDevices: Bool { false }

    func run(_ client: Client) async throws {
        let devices = try await client.account.devices()
        try output.result(DeviceText.lines(devices), bare: DeviceText.bare(devices), json: DeviceText.json(devices))
    }
}
