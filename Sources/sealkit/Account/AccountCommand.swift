import ArgumentParser

struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract: "Make, recover, look at and choose accounts.",
        discussion: """
            An account is a random seed in a key file. The server never has it: whoever holds the file, or the recovery key that \
            is printed once, is the user.
            """,
        subcommands: [
            AccountCreate.self, AccountRecover.self, AccountEnrol.self, AccountStatusCommand.self, AccountWhoami.self,
            AccountAddress.self, AccountList.self, AccountUse.self, AccountMove.self, AccountPassphrase.self,
            AccountRecoveryKey.self,
            AccountRecoveryPassphrase.self, AccountRotateKeys.self, AccountReset.self, AccountRemove.self,
            AccountDelete.self,
        ])
}
