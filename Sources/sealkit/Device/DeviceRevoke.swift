import ArgumentParser
import SealKit

struct DeviceRevoke: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Take a device off the account: what it is doing ends at once, and its logins are refused.",
        discussion: """
              sealkit device revoke 1f3a

            The device keeps what it has read, and the account's keys. Who can get those out of a lost device can come back \
            as another one, which every device of the account is then warned of, or delete the account. Where it may be in wrong \
            hands, take its keys out of use: sealkit account rotate-keys

            Of the device that this runs on it asks for the word revoke, unless --yes is given: only another device, the recovery \
            key or a recovery passphrase brings the account back to it.
            """)

    @Argument(help: "The device: its id, the beginning of it, or its name.")
    var device: String

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let found = try DeviceArgument.find(device, in: try await client.account.devices())
        if found.isCurrent {
            try confirmation.confirm("This takes the device that this runs on off the account", typing: "revoke")
        }
        let devices = try await client.account.revokeDevice(found.id)
        try output.result(
            "revoked \(found.id) \(found.name.escaped)\n" + DeviceText.lines(devices), bare: found.id,
            json: DeviceText.json(devices))
    }
}
