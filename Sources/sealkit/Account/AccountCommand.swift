import ArgumentParser

struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract: "Make, recover and look at an account.",
        discussion: """
            An account is a random seed in a key file. The server never has it: whoever holds the file, or the recovery key that \
            is printed once, is the user.
            """,
        subcommands: [
            AccountCreate.self, AccountRecover.self, AccountEnrol.self, AccountStatusCommand.self, AccountWhoami.self,
            AccountAddress.self,
        ])
}
