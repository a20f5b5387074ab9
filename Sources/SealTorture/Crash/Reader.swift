import Foundation
import SealKit
import SealLab
import SealQuery

/// A device that reads all there is: every record verifies against its author's signature, opens, and is whole.
struct Reader: Sendable {
    private let container: Container
    private let database: Database
    private var tokens: [RecordZone.ID: ServerChangeToken] = [:]
    private(set) var records: [Record.ID: Record] = [:]

    init(_ container: Container) {
        self.container = container
        database = container.privateDatabase.fetchingAssets(.onDemand)
    }

    func checkNoViolations() async throws { try await checkNoAccusation(container, by: "a reader") }

    /// Fetches what has changed since the last time; and all, the first time.
    mutating func follow(_ zones: [RecordZone.ID]) async throws {
        for zone in zones {
            var isMore = true
            while isMore {
                let page = try await database.recordZoneChanges(inZoneWith: zone, since: tokens[zone])
                for (id, result) in page.modifications {
                    let record = try result.get()
                    try Self.checkWhole(record)
                    records[id] = record
                }
                for (id, _) in page.deletions { records[id] = nil }
                (tokens[zone], isMore) = (page.changeToken, page.moreComing)
            }
        }
    }

    /// Its fields come from one save.
    static func checkWhole(_ record: Record) throws {
        let count: Int? = record["count"]
        let body: String? = record.encryptedValues["body"]
        try check(
            count.map { Worker.body(of: $0) } == body,
            "the fields of \(record.recordID.recordName) are not those of one save")
    }

    /// Holds what it has against what the server lists.
    func checkEqual(_ states: [String: Feed.State]) throws {
        var names: [String: Set<String>] = [:]
        for id in records.keys { names[id.zoneID.zoneName, default: []].insert(id.recordName) }
        for (zone, state) in states {
            let live = Set(state.items.filter { !$0.value.isDeleted }.keys)
            try check(names[zone] ?? [] == live, "a device that reads all of \(zone) has other records than there are")
        }
    }

    /// A query finds exactly the records that fulfil it, from an index that may have been made anew when the server was
    /// killed.
    func checkQuery(above least: Int, in zone: RecordZone.ID) async throws {
        let query = Query(
            recordType: "Note", predicate: Query.Predicate([Query.Field<Int>("count") >= least]),
            sortDescriptors: [Query.SortDescriptor(key: "count", ascending: true)])
        var found: [String] = []
        var page = try await database.records(matching: query, inZoneWith: zone, desiredKeys: ["count"])
        while true {
            for (id, result) in page.matchResults {
                _ = try result.get()
                found.append(id.recordName)
            }
            guard let cursor = page.queryCursor else { break }
            page = try await database.records(continuingMatchFrom: cursor, desiredKeys: ["count"])
        }
        let expected = records.values.filter { $0.recordID.zoneID == zone && ($0["count"] ?? -1) >= least }.map(
            \.recordID.recordName)
        try check(
            found.sorted() == expected.sorted(),
            "a query in \(zone.zoneName) finds \(found.count) records, not \(expected.count)")
    }
}
