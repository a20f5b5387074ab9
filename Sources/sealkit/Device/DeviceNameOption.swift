import ArgumentParser
import SealKit

/// What a device that gets an account is called in the account's list of devices.
struct DeviceNameOption: ParsableArguments {
    @Option(
        name: .customLong("device-name"),
        help: ArgumentHelp(
            "What the account's other devices call this one. Default: this machine's name, with a number behind it where another device has that already. sealkit device name changes it.",
            valueName: "name"))
    var given: String?

    var name: String { given ?? Account.defaultDeviceName }

    func validate() throws {
        guard given?.isEmpty != true else { throw ValidationError("A device's name is not empty.") }
    }

    /// Of two that are called after one machine, or after copies of one, nobody could tell which is which. Beside what
    /// has brought the account here: where it fails, the name can be given later.
    func distinguish(_ account: Account) async {
        guard given == nil, let devices = try? await account.devices(),
            let own = devices.first(where: \.isCurrent)
        else { return }
        let others = Set(devices.filter { !$0.isCurrent }.map(\.name))
        guard others.contains(own.name) else { return }
        // There is one: there are fewer devices than numbers.
        for number in 2...(others.count + 2) where !others.contains("\(own.name) \(number)") {
            _ = try? await account.renameDevice(own.id, to: "\(own.name) \(number)")
            return
        }
    }
}
