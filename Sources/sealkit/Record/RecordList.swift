import ArgumentParser
import Foundation
import SealKit

struct RecordList: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List a zone's records, or what has changed in it.",
        discussion: """
            Reads the zone's feed from its start. With --since-file it goes on from where it stopped the last time, and shows \
            changes and deletions since. Where the server does not know that place any more, as after it was restored from a \
            backup, it says "starting over" (with --json {"reset":true}) and shows all records there are: what was deleted \
            since then is not told.

              sealkit record list --zone Notes
              sealkit record list --zone Notes --since-file notes.token --json

            Files stay on the server: sealkit record asset fetches one.

            A record that does not verify is reported, and nothing of it is shown; the exit code is then 76, \
            whatever else could not be shown.
            """)

    @OptionGroup var zone: ZoneOptions

    @Option(help: ArgumentHelp("Where to keep how far the feed was read.", valueName: "file"), completion: .file())
    var sinceFile: String?

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let (chosen, zoneID) = zone.resolve(client)
        let database = chosen.readingAhead()
        var token = try savedToken(of: zoneID, in: database)
        var shown = ShownRecords()
        var isMore = true
        while isMore {
            let changes = try await changes(in: zoneID, of: database, since: token)
            try shown.show(changes, output)
            token = changes.changeToken
            isMore = changes.moreComing
        }
        if let failed = shown.failed { throw failed }
        try save(token)
        output.note(shown.countText)
    }

    /// What is new; from the start again where the kept place is no longer good, which is a result: whoever keeps a
    /// copy by it has to begin that anew.
    private func changes(
        in zoneID: RecordZone.ID, of database: Database, since token: ServerChangeToken?
    ) async throws(SealKitError) -> Database.RecordZoneChanges {
        do {
            return try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
        } catch let error where error.code == .changeTokenExpired && token != nil {
            try output.result(
                "starting over: the server does not know the kept place in the feed any more",
                json: ["reset": .bool(true)])
            return try await database.recordZoneChanges(inZoneWith: zoneID)
        }
    }

    private func savedToken(of zoneID: RecordZone.ID, in database: Database) throws -> ServerChangeToken? {
        guard let sinceFile, let data = FileManager.default.contents(atPath: sinceFile) else { return nil }
        guard let token = try? JSONDecoder().decode(ServerChangeToken.self, from: data) else {
            throw SealKitError(
                .invalidArguments, "\(sinceFile) is not a file of this command's", remedy: "name another --since-file")
        }
        guard try database.isToken(token, ofZoneWith: zoneID) else {
            throw SealKitError(
                .invalidArguments, "\(sinceFile) keeps the place of another zone, container or environment",
                remedy: "name the one that belongs to this zone with --since-file")
        }
        return token
    }

    private func save(_ token: ServerChangeToken?) throws {
        guard let sinceFile, let token else { return }
        do { try JSONEncoder().encode(token).write(to: URL(fileURLWithPath: sinceFile), options: .atomic) } catch {
            throw Failure.Local(status: .cannotWrite, reason: "\(sinceFile) cannot be written")
        }
    }
}
