import ArgumentParser

struct AdminCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin",
        abstract: "What the server's operator does: accounts, quotas, registration codes, keys.",
        discussion: """
            All but token-keys ask a server that runs, on the listener that it has for its operator alone:

              sealkit serve --data /var/lib/sealkit --operator 127.0.0.1:8090 …
              sealkit admin usage --data /var/lib/sealkit

            With --data they find the address in the data folder and the token in the secrets folder, as the user that the \
            server runs as, or root. From elsewhere: --at and --token-file. None of them opens what is encrypted.
            """,
        subcommands: [
            AccountsCommand.self, UsageCommand.self, QuotaCommand.self, SuspendCommand.self, UnsuspendCommand.self,
            InviteCommand.self, MailTestCommand.self, TokenKeysCommand.self,
        ])
}
