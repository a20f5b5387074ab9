import ArgumentParser
import SealKit

struct RecordAccept: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Take records over that this device was shown late.",
        discussion: """
            A record under an older key than this device has read the zone to is refused when it was not shown to it then: either the \
            server kept it back, or somebody who had that key has written it since. Ask whoever signed it, and accept it only if they \
            say that it is theirs. A participant accepts what was signed by somebody who may still write there by the same key; the \
            zone's owner may accept what others have signed. sealkit audit lists what was accepted.

              sealkit record accept --zone Notes --list
              sealkit record accept r0 r1 --zone Notes
              sealkit record accept --zone Notes --all
            """)

    @Argument(help: "The records' names.")
    var names: [String] = []

    @Flag(help: "All of the zone that came late.")
    var all = false

    @Flag(help: "Only show what came late, and who signed it.")
    var list = false

    @OptionGroup var zone: ZoneOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard all || list else {
            if names.isEmpty { throw ValidationError("Name the records, or say --all; --list shows which there are.") }
            return
        }
        if !names.isEmpty || (all && list) { throw ValidationError("Name records, or say --all, or --list.") }
    }

    func run(_ client: Client) async throws {
        let (database, zoneID) = zone.resolve(client)
        var failures: [Record.ID: SealKitError] = [:]
        let late =
            try await names.isEmpty ? database.lateRecords(inZoneWith: zoneID) : named(in: zoneID, database, &failures)
        guard !list else {
            for record in late {
                try output.result(
                    Self.text(record), bare: record.recordID.recordName.escaped,
                    json: ["late": .object(Self.json(record))])
            }
            return output.note("\(late.count.counted("record")) came late")
        }
        let results = try await database.accept(late)
        for record in late {
            let name = record.recordID.recordName
            switch results[record.recordID] {
            case .success:
                try output.result(
                    "accepted " + Self.text(record), bare: name.escaped, json: ["accepted": .object(Self.json(record))])
            case .failure(let error): failures[record.recordID] = error
            case nil: failures[record.recordID] = Self.unanswered(record.recordID)
            }
        }
        let failed = FailedRecords(failures)
        failed.show(global)
        if let worst = failed.worst { throw worst }
    }

    /// What can be accepted of the records that were named.
    /// - Parameter failures: takes the others: what keeps one from being read, and `invalidArguments` for one that is
    ///   not late.
    private func named(
        in zoneID: RecordZone.ID, _ database: Database, _ failures: inout [Record.ID: SealKitError]
    ) async throws -> [LateRecord] {
        let ids = Set(names).sorted().map { Record.ID(recordName: $0, zoneID: zoneID) }
        let results = try await database.records(for: ids, desiredKeys: [])
        var late: [LateRecord] = []
        for id in ids {
            switch results[id] {
            case .failure(let error):
                if let record = error.lateRecord { late.append(record) } else { failures[id] = error }
            case .success:
                failures[id] = SealKitError(
                    .invalidArguments, "record \(id.recordName) did not come late: it counts already",
                    remedy: "leave it out")
            case nil: failures[id] = Self.unanswered(id)
            }
        }
        return late
    }

    private static func unanswered(_ id: Record.ID) -> SealKitError { .lacking("record \(id.recordName)") }

    private static func text(_ record: LateRecord) -> String {
        "\(record.recordType.escaped) \(record.recordID.recordName.escaped)  signed \(Timestamp.shown(record.signed)) by "
            + record.authorUserRecordID.recordName.escaped.withNames
            + (record.isAuthorVouchedFor ? "" : ", WHO MAY NOT WRITE THERE ANY MORE")
    }

    private static func json(_ record: LateRecord) -> [String: JSONValue] {
        [
            "recordName": .string(record.recordID.recordName), "recordType": .string(record.recordType),
            "author": .string(record.authorUserRecordID.recordName), "signed": .string(Timestamp.text(record.signed)),
            "isAuthorVouchedFor": .bool(record.isAuthorVouchedFor),
        ].naming(record.authorUserRecordID.recordName, as: "authorName")
    }
}
