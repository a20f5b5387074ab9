import Foundation
import SealKit
import SealLab
import SealStatements

/// One device that does what touches much at once: records that go with their target, zones that come and go, an index
/// that is made anew over everything, schemas that are deployed. What was acknowledged is there after a kill; what was
/// not is as before or as after, with nothing in between.
actor Upheaval {
    /// All that this device changes. Two of them differ by one step.
    struct World: Equatable {
        /// The names of the live records of each zone.
        var zones: [String: Set<String>] = [:]
        var isIndexed = true
        /// Fields of the other container's records, in development and in production.
        var imported = 0
        var deployed = 0
    }

    private let database: Database
    private let management: ContainerManagement
    /// Of a container that has no records: production keeps what it was ever given.
    private let deployment: ContainerManagement
    private let journal: Journal
    private var random: SeededRandom
    private(set) var known = KnownWorld(World())
    private var world: World { known.world }
    private var number = 0

    static let zonePrefix = "family"
    private static let sources = 8...40

    init(
        _ database: Database, management: ContainerManagement, deployment: ContainerManagement, journal: Journal,
        random: SeededRandom
    ) {
        self.database = database
        self.management = management
        self.deployment = deployment
        self.journal = journal
        self.random = random
    }

    // MARK: Steps

    /// Until the journal says that the server goes down.
    func run() async {
        while !journal.isDown {
            var next = world
            do throws(SealKitError) {
                try await step(&next)
                known.stepped(to: next)
            } catch {
                if journal.excuses(error) {
                    known.missed(next)
                } else {
                    journal.note(unexpected: "\(error)")
                }
                return
            }
        }
    }

    /// - Parameter next: changed before the server is asked to make it so.
    private func step(_ next: inout World) async throws(SealKitError) {
        let zone = random.one(of: world.zones.keys.sorted())
        let choice = random.below(100)
        if let zone, choice < 25 {
            try await deleteTarget(in: zone, &next)
        } else if let zone, choice < 45, world.zones.count > 2 {
            next.zones[zone] = nil
            try await database.deleteRecordZone(withID: RecordZone.ID(zoneName: zone))
        } else if let zone, choice < 60 {
            try await saveFamily(in: zone, &next)
        } else if choice < 75 {
            number += 1
            let name = "\(Self.zonePrefix)-\(number)"
            next.zones[name] = []
            try await database.save(RecordZone(zoneName: name))
        } else if choice < 85 {
            try await toggleIndex(&next)
        } else {
            try await growSchema(&next)
        }
    }

    /// A target, and records that go with it, some of them by way of others.
    private func saveFamily(in zone: String, _ next: inout World) async throws(SealKitError) {
        number += 1
        let id = RecordZone.ID(zoneName: zone)
        let target = "target-\(number)"
        var records = [Record(recordType: "Family", recordID: Record.ID(recordName: target, zoneID: id))]
        for index in 0..<(Self.sources.lowerBound + random.below(Self.sources.count)) {
            let name = "\(target)-\(index)"
            var record = Record(recordType: "Family", recordID: Record.ID(recordName: name, zoneID: id))
            let before = index > 0 && random.chance(30) ? "\(target)-\(random.below(index))" : target
            record["goesWith"] = Record.Reference(recordName: before, action: .deleteSelf)
            record.encryptedValues["body"] = Worker.body(of: index)
            records.append(record)
        }
        next.zones[zone]?.formUnion(records.map(\.recordID.recordName))
        for result in try await database.modifyRecords(saving: records).saveResults.values { _ = try result.get() }
    }

    private func deleteTarget(in zone: String, _ next: inout World) async throws(SealKitError) {
        let targets = (world.zones[zone] ?? []).filter { $0.split(separator: "-").count == 2 }.sorted()
        guard let target = random.one(of: targets) else { return }
        next.zones[zone] = next.zones[zone]?.filter { $0 != target && !$0.hasPrefix(target + "-") }
        try await database.deleteRecord(withID: Record.ID(recordName: target, zoneID: RecordZone.ID(zoneName: zone)))
    }

    private static let indexed = "count INT64 QUERYABLE SORTABLE"

    /// The index over the number in every record of the load is taken away, or made again.
    private func toggleIndex(_ next: inout World) async throws(SealKitError) {
        let text = try await management.exportSchema(from: .development)
        next.isIndexed.toggle()
        let field = next.isIndexed ? Self.indexed : "count INT64"
        let changed = text.replacing(/\bcount +INT64[ A-Z]*/, with: field)
        try await management.importSchema(changed)
    }

    private func growSchema(_ next: inout World) async throws(SealKitError) {
        if world.deployed < world.imported, random.chance(60) {
            next.deployed = next.imported
            try await deployment.deploySchema()
        } else {
            next.imported += 1
            try await deployment.importSchema(Self.schema(fields: next.imported))
        }
    }

    /// Some fields a type: a schema has room for so many of both, and none ever goes.
    private static let fieldsPerType = 20

    private static func schema(fields count: Int) -> String {
        let types = stride(from: 1, through: count, by: fieldsPerType).map { first in
            let fields = (first...min(first + fieldsPerType - 1, count)).map { "grown\($0) STRING QUERYABLE" }
            return "RECORD TYPE Type\(first) ( \(fields.joined(separator: ", ")), secret ENCRYPTED STRING );"
        }
        return "DEFINE SCHEMA\n" + types.joined(separator: "\n")
    }

    private static func grownFields(_ schema: String) -> Int { schema.matches(of: /\bgrown[0-9]+/).count }

    // MARK: After a crash

    var isIndexed: Bool { world.isIndexed }

    /// - Parameter feed: of a server that was started again.
    func inspect(_ feed: Feed) async throws {
        let found = try await look(feed)
        try known.goOn(from: found, Self.text)
    }

    private func look(_ feed: Feed) async throws -> World {
        var found = World()
        for zone in try await database.allRecordZones().map(\.zoneID.zoneName) where zone.hasPrefix(Self.zonePrefix) {
            let items = try await feed.changes(in: zone, since: Data(), limit: 0).items
            found.zones[zone] = Set(items.filter { !$0.value.isDeleted }.keys)
        }
        let own = try await management.exportSchema(from: .development)
        guard let field = own.firstMatch(of: /\bcount +INT64([ A-Z]*)/) else {
            throw Finding("the schema has lost a field")
        }
        found.isIndexed = field.1.contains("QUERYABLE")
        found.imported = Self.grownFields(try await deployment.exportSchema(from: .development))
        found.deployed = Self.grownFields(try await deployment.exportSchema(from: .production))
        return found
    }

    private static func text(_ world: World) -> String {
        let zones = world.zones.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.count)" }.joined(
            separator: ", ")
        return "[\(zones)], indexed \(world.isIndexed), \(world.imported) fields, \(world.deployed) in production"
    }
}
