import ArgumentParser
import SealKit

struct SuspendCommand: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "suspend",
        abstract: "Keep an account from logging in, at once and until it is undone.",
        discussion: """
            Its sessions and event streams end, its logins and server-to-server keys are refused, which says why. \
            Nothing of it goes: whoever takes part in its shares reads and writes on, billed to it as before. \
            sealkit admin unsuspend undoes it.

              sealkit admin suspend ann@example.org --reason "Invoice 4711 is unpaid" --data /var/lib/sealkit
            """)

    @Argument(help: "Its name, the beginning of it, a user record name, or an address.")
    var account: String

    @Option(help: ArgumentHelp("Whoever logs in is shown it: one line, up to 255 bytes.", valueName: "text"))
    var reason = ""

    @OptionGroup var options: OperatorOptions

    func run(_ server: ServerOperator) async throws {
        let suspended = try await server.suspend(account, reason: reason)
        try output.result(
            OperatedAccountText.lines(suspended), bare: suspended.name.escaped,
            json: OperatedAccountText.json(suspended))
    }
}

struct UnsuspendCommand: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "unsuspend",
        abstract: "Let a suspended account log in again.",
        discussion: "  sealkit admin unsuspend ann@example.org --data /var/lib/sealkit")

    @Argument(help: "Its name, the beginning of it, a user record name, or an address.")
    var account: String

    @OptionGroup var options: OperatorOptions

    func run(_ server: ServerOperator) async throws {
        let account = try await server.unsuspend(account)
        try output.result(
            OperatedAccountText.lines(account), bare: account.name.escaped, json: OperatedAccountText.json(account))
    }
}
