import Foundation
import SealKit
import SealLab

/// How long somebody who is invited waits: from the owner's saving of the share to the first record that the guest
/// reads.
struct SharingBenchmark {
    private static let guests = 100

    func run(_ report: inout Report) async throws {
        report.heading(
            "From an invitation to the first record read: client and server together",
            """
            An owner invites somebody by name to a zone with one record; the guest, who has an account and knows nothing of the
            zone, opens the share's URL, accepts and reads the record. The middle of \(Self.guests) guests, each with a zone of its own.
            """)
        let server = try ServerProcess.temporary(
            arguments: ServerProcess.withoutRates)
        defer { server.remove() }
        let owner = try await Self.person(server)
        var invitations: [Double] = []
        var acceptances: [Double] = []
        var readings: [Double] = []
        for index in 0..<Self.guests {
            let guest = try await Self.person(server)
            let times = try await invite(guest, to: "zone-\(index)", of: owner)
            invitations.append(times[0])
            acceptances.append(times[1])
            readings.append(times[2])
        }
        let parts = [
            ("the owner invites", invitations), ("the guest accepts by URL", acceptances),
            ("and reads the record", readings),
        ]
        for (name, seconds) in parts { report.row(name, Report.middle(seconds) * 1_000, "ms") }
        let all = zip(invitations, zip(acceptances, readings)).map { $0 + $1.0 + $1.1 }
        report.row("all of it", Report.middle(all) * 1_000, "ms", aim: .atMost(5))
    }

    private struct Mismatch: Error {}

    private static func person(_ server: ServerProcess) async throws -> Container {
        let account = try await Account.create(transport: try HTTPTransport(server: server.origin), deviceName: "bench")
            .account
        let container = try Container("org.sealkit.bench", account: account)
        // The first call makes this account known in the container.
        _ = try await container.privateDatabase.allRecordZones()
        return container
    }

    /// Seconds that inviting, accepting and reading take.
    private func invite(_ guest: Container, to name: String, of owner: Container) async throws -> [Double] {
        let database = owner.privateDatabase
        let zone = try await database.save(RecordZone(zoneName: name)).zoneID
        var record = Record(recordType: "Note", recordID: Record.ID(recordName: "note", zoneID: zone))
        record.encryptedValues["text"] = name
        try await database.save(record)
        let user = try guest.userRecordID()
        let shared = Record.ID(
            recordName: "note",
            zoneID: RecordZone.ID(zoneName: name, ownerName: try owner.userRecordID().recordName))

        let clock = ContinuousClock()
        let start = clock.now
        var share = Share(recordZoneID: zone)
        share.addParticipant(try await owner.shareParticipant(forUserRecordID: user, permission: .readWrite))
        guard let url = try await database.save(share).url else { throw Mismatch() }
        let invited = clock.now
        try await guest.accept(try await guest.shareMetadata(for: url))
        let accepted = clock.now
        let read = try await guest.sharedDatabase.record(for: shared)
        let end = clock.now
        guard read.encryptedValues["text"] as? String == name else { throw Mismatch() }
        return [invited - start, accepted - invited, end - accepted].map { $0 / .seconds(1) }
    }
}
