import ArgumentParser
import SealKit

struct QuotaCommand: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "quota",
        abstract: "Set what one account may store.",
        discussion: """
            A number of bytes, none for no limit, or default for the server's --storage-quota. Below what the account \
            stores nothing goes: it takes no more until there is room.

              sealkit admin quota ann@example.org 53687091200 --data /var/lib/sealkit
              sealkit admin quota ann@example.org default --data /var/lib/sealkit
            """)

    struct Amount: ExpressibleByArgument {
        let quota: ServerOperator.Quota

        init?(argument: String) {
            switch argument {
            case "none": quota = .unlimited
            case "default": quota = .serverDefault
            default:
                guard let bytes = UInt64(argument), bytes > 0, bytes <= UInt64(Int64.max) else { return nil }
                quota = .bytes(bytes)
            }
        }
    }

    @Argument(help: "Its name, the beginning of it, a user record name, or an address.")
    var account: String

    @Argument(help: ArgumentHelp("A number of bytes from 1 on, none or default.", valueName: "bytes"))
    var amount: Amount

    @OptionGroup var options: OperatorOptions

    func run(_ server: ServerOperator) async throws {
        let changed = try await server.setQuota(amount.quota, of: account)
        try output.result(
            OperatedAccountText.line(changed), bare: changed.name.escaped, json: OperatedAccountText.json(changed))
    }
}
