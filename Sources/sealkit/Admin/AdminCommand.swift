import ArgumentParser

struct AdminCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin",
        abstract: "What the server's operator does on the server's machine.",
        subcommands: [TokenKeysCommand.self, InviteCommand.self])
}
