import ArgumentParser
import SealKit

struct UsageCommand: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage",
        abstract: "What the server stores, or one account: sums, and by container.",
        discussion: """
            An account is named by its name or a user record name of it, by the beginning of either that fits no other \
            account (six characters or more), or by its address. Rows and assets are counted one by one: of a large \
            server that takes a while.

              sealkit admin usage --data /var/lib/sealkit
              sealkit admin usage ann@example.org --data /var/lib/sealkit
            """)

    @Argument(help: "An account. Default: the whole server.")
    var account: String?

    @OptionGroup var options: OperatorOptions

    func run(_ server: ServerOperator) async throws {
        let usage = try await server.usage(of: account)
        try output.result(Self.text(usage), bare: "\(usage.bytes)", json: Self.json(usage))
    }

    private static func text(_ usage: ServerOperator.Usage) -> String {
        var lines: [String] = []
        if let account = usage.account {
            lines.append(OperatedAccountText.lines(account))
        } else {
            lines.append("accounts     \(usage.accounts), \(usage.suspendedAccounts) of them suspended")
        }
        lines += [
            "zones        \(usage.zones)", "records      \(usage.records)",
            "assets       \(usage.assets), \(OperatedAccountText.text(usage.assetBytes))",
            "rows billed  \(usage.rows)", "stored       \(OperatedAccountText.text(usage.bytes))",
        ]
        if usage.account == nil {
            let nobodys = OperatedAccountText.text(usage.publicBytes)
            lines.append("  of it      \(nobodys) in public databases and of nobody any more")
        }
        lines += usage.containers.map {
            "\($0.containerIdentifier.escaped) \($0.environment.escaped)  \(Int(clamping: $0.zones).counted("zone")), "
                + "\(Int(clamping: $0.records).counted("record")), \(OperatedAccountText.text($0.bytes))"
        }
        if usage.moreContainers > 0 { lines.append("and \(usage.moreContainers) smaller ones") }
        return lines.joined(separator: "\n")
    }

    private static func json(_ usage: ServerOperator.Usage) -> [String: JSONValue] {
        let number = OperatedAccountText.number
        var fields: [String: JSONValue] = [
            "zones": number(usage.zones), "records": number(usage.records), "assets": number(usage.assets),
            "assetBytes": number(usage.assetBytes), "rows": number(usage.rows), "bytes": number(usage.bytes),
            "containers": .array(
                usage.containers.map {
                    .object([
                        "container": .string($0.containerIdentifier), "environment": .string($0.environment),
                        "zones": number($0.zones), "records": number($0.records), "bytes": number($0.bytes),
                    ])
                }),
        ]
        if usage.moreContainers > 0 { fields["moreContainers"] = number(usage.moreContainers) }
        if let account = usage.account {
            fields["account"] = .object(OperatedAccountText.json(account))
        } else {
            fields["accounts"] = number(usage.accounts)
            fields["suspended"] = number(usage.suspendedAccounts)
            fields["publicBytes"] = number(usage.publicBytes)
        }
        return fields
    }
}
