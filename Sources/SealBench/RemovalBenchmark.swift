import Foundation
import SealKit
import SealLab

/// What taking somebody's access away costs: a new key for everybody who stays, and nothing for the records.
struct RemovalBenchmark {
    private static let participants = 100
    private static let records = 100_000
    private static let batch = 400
    private static let removals = 10

    func run(_ report: inout Report) async throws {
        report.heading(
            "One of \(Self.participants) participants removed: client and server together",
            """
            From saving the share without somebody until the server has it: roster fetched and replayed on, a new key sealed to each
            who stays, one signed entry, checked and stored durably, the share read again. The middle of \(Self.removals) removals.
            """)
        let server = try ServerProcess.temporary(
            arguments: ServerProcess.withoutRates)
        defer { server.remove() }
        let owner = try await person(server)
        var guests: [Container] = []
        for _ in 0..<Self.participants { guests.append(try await person(server)) }
        let database = owner.privateDatabase
        let small = try await zone("small", owner, guests)
        let large = try await zone("large", owner, guests)
        try await fill(large, database)

        // In turns, so that whatever else the machine does falls on both.
        var shares = [try await database.share(for: small), try await database.share(for: large)]
        var times: [[Double]] = [[], []]
        for _ in 0..<Self.removals {
            for index in shares.indices { times[index].append(try await remove(from: &shares[index], database)) }
        }
        let (few, many) = (Report.middle(times[0]), Report.middle(times[1]))
        report.row("of a zone without records", few * 1000, "ms")
        report.row("of a zone with \(Self.records) records", many * 1000, "ms", aim: .atMost(100))
        report.row("the one to the other", many / few, "", aim: .atMost(1.25))
        let status = try await database.keyStatus(of: large)
        guard status.newestEpoch == Self.removals, status.staleRecordCount >= Self.records else { throw Mismatch() }
    }

    private struct Mismatch: Error {}

    private func person(_ server: ServerProcess) async throws -> Container {
        let account = try await Account.create(transport: try HTTPTransport(server: server.origin), deviceName: "bench")
            .account
        let container = try Container("org.sealkit.bench", account: account)
        // The first call makes this account known in the container.
        _ = try await container.privateDatabase.allRecordZones()
        return container
    }

    private func zone(_ name: String, _ owner: Container, _ guests: [Container]) async throws -> RecordZone.ID {
        let database = owner.privateDatabase
        let zone = try await database.save(RecordZone(zoneName: name)).zoneID
        var share = Share(recordZoneID: zone)
        for guest in guests {
            share.addParticipant(
                try await owner.shareParticipant(forUserRecordID: try guest.userRecordID(), permission: .readWrite))
        }
        guard let url = try await database.save(share).url else { throw Mismatch() }
        for guest in guests { try await guest.accept(try await guest.shareMetadata(for: url)) }
        return zone
    }

    private func fill(_ zone: RecordZone.ID, _ database: Database) async throws {
        let text = String(repeating: "0123456789", count: 10)
        for start in stride(from: 0, to: Self.records, by: Self.batch) {
            let records = (start..<start + Self.batch).map { index in
                var record = Record(
                    recordType: "Note", recordID: Record.ID(recordName: "record-\(index)", zoneID: zone))
                record.encryptedValues["text"] = text
                return record
            }
            for result in try await database.modifyRecords(saving: records).saveResults.values { _ = try result.get() }
        }
    }

    /// Seconds that one removal takes.
    private func remove(from share: inout Share, _ database: Database) async throws -> Double {
        let count = share.participants.count
        guard let last = share.participants.last else { throw Mismatch() }
        share.removeParticipant(last)
        let start = ContinuousClock.now
        share = try await database.save(share)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        guard share.participants.count == count - 1 else { throw Mismatch() }
        return seconds
    }
}
