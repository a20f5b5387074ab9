import Foundation
import SealLab
import Testing

@testable import SealKit

/// Assets that a record still names, and whose bytes are not stored any more: the file at hand takes their place.
@Suite(.timeLimit(.minutes(60))) struct AssetConflictTests {
    private let temporary: TemporaryFolder
    init() throws { temporary = try TemporaryFolder() }

    private static let (first, second) = (pattern(100_000), pattern(70_000))

    private func asset(_ content: Data) throws -> Asset {
        let url = temporary.url.appendingPathComponent(UUID().uuidString)
        try content.write(to: url)
        return Asset(fileURL: url)
    }

    private func content(_ key: String, of id: Record.ID, in database: Database) async throws -> Data {
        let asset: Asset? = try await database.record(for: id)[key]
        return try Data(contentsOf: try #require(asset?.fileURL))
    }

    /// A record with a file and another one that stays, as a device has fetched it before another one replaced the
    /// file.
    private func overtaken(_ ann: Person, _ database: Database, in zone: RecordZone.ID) async throws -> Record {
        var record = Record(recordType: "Post", recordID: Record.ID(recordName: UUID().uuidString, zoneID: zone))
        record["title"] = "first"
        record["file"] = try asset(Self.first)
        record["other"] = try asset(pattern(3_000))
        record = try await database.save(record)
        let fetched = try await database.record(for: record.recordID)
        var there = try await ann.onFreshDevice().container.database(with: database.scope).record(for: record.recordID)
        there["file"] = try asset(Self.second)
        _ = try await ann.onFreshDevice().container.database(with: database.scope).save(there)
        return fetched
    }

    @Test(arguments: [false, true]) func allKeysTakeTheFileThatIsAtHand(atomically: Bool) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: "nothing", [])
        let device = try ann.through(network)
        var mine = try await overtaken(ann, device.own, in: zone)
        mine["title"] = "mine"
        let sent = network.calls.count { $0.contains("/assets/") }
        let (other, id) = (device.note(in: zone, "beside it"), mine.recordID)
        let results = try await device.own.modifyRecords(
            saving: [mine, other], savePolicy: .allKeys, atomically: atomically)
        let saved = try results.saveResults[id]?.get()
        #expect(saved?["title"] == "mine")
        #expect(results.saveResults[other.recordID]?.isSuccess == true)
        // What the server has of it still does not go once more.
        #expect(network.calls.count { $0.contains("/assets/") } == sent + 1)
        let reader = try ann.onFreshDevice().own
        #expect(try await content("file", of: id, in: reader) == Self.first)
        #expect(try await content("other", of: id, in: reader) == pattern(3_000))
        // It is as any other that was saved.
        var again = try #require(saved)
        again["title"] = "again"
        _ = try await device.own.save(again)
        #expect(try await content("file", of: id, in: try ann.onFreshDevice().own) == Self.first)
    }

    /// The app decides for its own file, as it was fetched.
    @Test(arguments: [false, true]) func aMergeTakesTheFileThatIsAtHand(inPublic: Bool) async throws {
        let ann = try await Person()
        let database = ann.container.database(with: inPublic ? .public : .private)
        let zone = inPublic ? RecordZone.ID.default : try await ann.makeZone()
        var mine = try await overtaken(ann, database, in: zone)
        mine["title"] = "mine"
        let changed = mine
        var merged: Record?
        do { _ = try await database.save(changed) } catch { merged = error.serverRecord }
        var there = try #require(merged)
        there["file"] = mine["file"] as Asset?
        there = try await database.save(there)
        #expect(try await content("file", of: there.recordID, in: database) == Self.first)
        #expect(try await content("other", of: there.recordID, in: database) == pattern(3_000))
    }

    @Test func aRecordThatIsMadeAgainTakesTheFileThatIsAtHand() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var record = ann.note(in: zone, "with a file")
        record["file"] = try asset(Self.first)
        let saved = try await ann.own.save(record)
        let fetched = try await ann.own.record(for: saved.recordID)
        try await ann.own.deleteRecord(withID: saved.recordID)
        var again = ann.note(in: zone, "again", name: saved.recordID.recordName)
        again["file"] = fetched["file"] as Asset?
        _ = try await ann.own.save(again)
        #expect(try await content("file", of: saved.recordID, in: try ann.onFreshDevice().own) == Self.first)
    }

    /// Nothing is at hand that could be sent.
    @Test func withoutAFileItIsSaidThatTheBytesAreGone() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var record = ann.note(in: zone, "with a file")
        record["file"] = try asset(Self.first)
        record = try await ann.own.save(record)
        let light = try await ann.own.fetchingAssets(.onDemand).record(for: record.recordID)
        var there = try await ann.onFreshDevice().own.record(for: record.recordID)
        there["file"] = try asset(Self.second)
        there = try await ann.own.save(there)
        there["file"] = light["file"] as Asset?
        let stale = there
        #expect(await failure { _ = try await ann.own.save(stale) } == .assetNotAvailable)
        #expect(try await content("file", of: record.recordID, in: try ann.onFreshDevice().own) == Self.second)
    }
}
