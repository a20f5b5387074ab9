import ArgumentParser
import SealKit

struct AccountStatusCommand: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say whether the server knows this account and lets it in, and how much it stores there.",
        discussion: """
            Exits with 0 when it does, with 77 when it does not, with 69 when the server cannot be asked.

              sealkit account status
            """)

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let status = try await client.account.status()
        let server = client.account.server
        var json: [String: JSONValue] = ["status": .string("\(status)"), "server": .string(server)]
        var text = "\(status) at \(server)"
        do {
            let usage = try await client.account.storageUsage()
            text += "\n\(usage.recordCount.counted("record")), \(ByteCount.text(usage.bytes)) stored"
            if let limit = usage.bytesLimit { text += " of \(ByteCount.text(limit))" }
            json["records"] = .integer(Int64(usage.recordCount))
            json["bytes"] = .integer(usage.bytes)
            json["bytesLimit"] = usage.bytesLimit.map(JSONValue.integer) ?? .null
        } catch {
            guard status != .available else { throw error as any Error }
            let advice = error.advice(after: global)
            text += "\n\(error.said.escaped)" + (advice.isEmpty ? "" : " – \(advice.escapedToCopy)")
            json["reason"] = .string(error.said)
            json["remedy"] = .string(advice)
        }
        try output.result(text, bare: "\(status)", json: json)
        switch status {
        case .available: break
        case .couldNotDetermine: throw ExitCode(ExitStatus.network.rawValue)
        case .noAccount, .restricted, .temporarilyUnavailable: throw ExitCode(ExitStatus.permission.rawValue)
        }
    }
}
