import ArgumentParser
import SealKit

struct ZoneKeys: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Show which keys a zone's records are sealed under.",
        discussion: """
              sealkit zone keys Notes

            Keys are counted from 0; a new one is opened whenever somebody's right is taken away. Whoever had an older key may still
            open what was not written since: sealkit zone rekey seals that again.
            """)

    @Argument(help: "The zone's name.")
    var name: String

    @OptionGroup var shared: OwnerOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let (database, zoneID) = shared.resolve(name, client)
        let status = try await database.keyStatus(of: zoneID)
        var lines = ["newest key \(status.newestEpoch), oldest in use \(status.oldestEpochInUse)"]
        if status.staleRecordCount > 0 { lines.append("\(status.staleRecordCount.counted("record")) under older keys") }
        if !status.isNewestHeld {
            lines.append(
                "this account was not given key \(status.newestEpoch): open another one with sealkit zone rotate, or ask who may"
            )
        }
        if status.isRotationDue { lines.append("a new key is due: the next member who writes opens it") }
        let failures = FailedRecords(status.failures)
        failures.show(global)
        try output.result(
            lines.joined(separator: "\n"), bare: "\(status.oldestEpochInUse)",
            json: [
                "zone": .string(name), "newestEpoch": .integer(Int64(status.newestEpoch)),
                "oldestEpochInUse": .integer(Int64(status.oldestEpochInUse)),
                "staleRecords": .integer(Int64(status.staleRecordCount)), "isRotationDue": .bool(status.isRotationDue),
                "isNewestHeld": .bool(status.isNewestHeld), "failures": failures.json,
            ])
    }
}
