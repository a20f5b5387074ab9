import ArgumentParser

struct ServerKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server-key",
        abstract: "Make, list and revoke keys by which another server writes to the public database.",
        discussion: """
            A server-to-server key is a user of its own: the creator of what it saves, in one container and environment. It opens \
            nothing and reaches nothing but that public database.
            """,
        subcommands: [ServerKeyCreate.self, ServerKeyList.self, ServerKeyRevoke.self])
}
