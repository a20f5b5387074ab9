import ArgumentParser

struct ContactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contact",
        abstract: "The people whose keys this device knows: compare safety numbers, and see who has new keys.",
        subcommands: [
            ContactList.self, ContactShow.self, ContactVerify.self, ContactUnverify.self, ContactAccept.self,
        ])
}
