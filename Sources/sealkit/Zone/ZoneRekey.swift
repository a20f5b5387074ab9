import ArgumentParser
import SealKit

struct ZoneRekey: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Seal again, under a zone's newest key, what nobody has written since it was opened.",
        discussion: """
              sealkit zone rekey Notes

            Stop it whenever you like, and call it again to go on. Records that others write meanwhile are left to them. It fails
            if a record stays under an older key, after all others are done.
            """)

    @Argument(help: "The zone's name.")
    var name: String

    @OptionGroup var shared: OwnerOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let (database, zoneID) = shared.resolve(name, client)
        let bar = ProgressBar(name, unit: .records, output)
        let result = try await database.rekey(zoneID) { done, total in bar.update(Int64(done), of: Int64(total)) }
        bar.finish()
        let failures = FailedRecords(result.failures)
        failures.show(global)
        var text = "\(result.rekeyed.counted("record")) sealed again"
        if result.writtenByOthers > 0 { text += ", \(result.writtenByOthers) written by others meanwhile" }
        if !failures.isEmpty { text += ", \(failures.count) left under older keys" }
        try output.result(
            text, bare: "\(result.rekeyed)",
            json: [
                "zone": .string(name), "rekeyed": .integer(Int64(result.rekeyed)),
                "writtenByOthers": .integer(Int64(result.writtenByOthers)),
                "failures": failures.json,
            ])
        if let worst = failures.worst { throw worst }
    }
}
