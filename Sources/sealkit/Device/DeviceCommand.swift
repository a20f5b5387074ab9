import ArgumentParser

struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "The account's devices: list, name, remove, and bring the account to another one.",
        discussion: """
            A device is a key file with what is kept beside it. Each is signed for by the account's keys; one that this device \
            has not seen before is shown as new, here and by sealkit audit, until it is acknowledged.
            """,
        subcommands: [
            DeviceList.self, DeviceName.self, DeviceRevoke.self, DeviceAcknowledge.self, DeviceApprove.self,
        ])
}
