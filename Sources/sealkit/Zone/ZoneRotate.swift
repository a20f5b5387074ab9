import ArgumentParser
import SealKit

struct ZoneRotate: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Open a new key for a zone.",
        discussion: """
              sealkit zone rotate Notes

            It happens by itself whenever somebody's right is taken away; it also mends a key that a member opened, and gave to nobody else \
            or not to everybody. What was written before stays under the keys before, until
            it is written again: sealkit zone rekey Notes
            """)

    @Argument(help: "The zone's name.")
    var name: String

    @OptionGroup var shared: OwnerOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let (database, zoneID) = shared.resolve(name, client)
        try await database.rotateKeys(of: zoneID)
        let status = try await database.keyStatus(of: zoneID)
        try output.result(
            "\(name.escaped) is written with key \(status.newestEpoch) from now on", bare: "\(status.newestEpoch)",
            json: ["zone": .string(name), "newestEpoch": .integer(Int64(status.newestEpoch))])
    }
}
