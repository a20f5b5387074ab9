import ArgumentParser

struct ContactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contact",
        abstract:
            "The people whose keys this device knows: compare safety numbers, see who has new keys, and give people names.",
        subcommands: [
            ContactList.self, ContactShow.self, ContactName.self, ContactVerify.self, ContactUnverify.self,
            ContactAccept.self,
        ])
}
