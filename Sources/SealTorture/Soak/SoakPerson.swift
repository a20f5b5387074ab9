import Foundation
import SealKit
import SealLab

/// Somebody with several devices, who has a zone of its own, and a zone that the person before shares with it.
struct SoakPerson {
    let clients: [SoakClient]
    private let account: Account
    private let zone: RecordZone.ID

    static func make(
        count: Int, clientsOfEach: Int, _ server: ServerProcess, _ notes: SoakNotes, _ random: inout SeededRandom
    ) async throws -> [SoakPerson] {
        let (origin, folder) = (server.origin, server.folder)
        let file = folder.appendingPathComponent("soak-asset")
        try Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }).write(to: file)
        var accounts: [(account: Account, container: Container)] = []
        for _ in 0..<count {
            let account = try await Account.create(transport: HTTPTransport(server: origin), deviceName: "soak").account
            let container = try Container(Soak.container, account: account)
            try await container.privateDatabase.save(RecordZone(zoneName: "own"))
            try await container.privateDatabase.save(DatabaseSubscription(subscriptionID: "zones"))
            accounts.append((account, container))
        }
        // Whoever asks for a type before its first record is told that there is none.
        if let first = accounts.first?.container {
            var sample = Record(recordType: "Note", recordID: Record.ID(recordName: "sample"))
            sample["count"] = 1
            try await first.publicDatabase.save(sample)
        }
        var people: [SoakPerson] = []
        for (index, person) in accounts.enumerated() {
            let owner = accounts[(index + count - 1) % count].container
            let zone = RecordZone.ID(zoneName: "own")
            var share = Share(recordZoneID: zone)
            share.addParticipant(
                try await owner.shareParticipant(
                    forUserRecordID: try person.container.userRecordID(), permission: .readWrite))
            guard let url = try await owner.privateDatabase.save(share).url else { throw Finding("a share has no URL") }
            try await person.container.accept(try await person.container.shareMetadata(for: url))
            let shared = RecordZone.ID(zoneName: "own", ownerName: try owner.userRecordID().recordName)
            let devices = try Devices.more(
                of: person.account, through: (0..<clientsOfEach).map { _ in try HTTPTransport(server: origin) })
            let clients = devices.enumerated().map { number, device in
                SoakClient(
                    name: "p\(index)-d\(number)", account: device, own: zone, shared: shared, asset: file,
                    isListening: number % 2 == 0, notes: notes, random: random.fork())
            }
            people.append(SoakPerson(clients: clients, account: person.account, zone: zone))
        }
        return people
    }

    /// No client of it goes on, and its connections are closed.
    func hangUp() async throws {
        for client in clients { await client.hangUp() }
    }

    /// Compares what a device that has seen nothing yet reads with what was acknowledged.
    /// - Returns: how many records were compared.
    func inspect(_ origin: String) async throws -> Int {
        let device = try Devices.more(of: account, through: [HTTPTransport(server: origin)])[0]
        let container = try Container(Soak.container, account: device)
        var count = 0
        for client in clients {
            let promises = await client.promises
            for (id, allowed) in promises {
                let database = id.zoneID == zone ? container.privateDatabase : container.sharedDatabase
                var found: Int?
                do {
                    let record = try await database.record(for: id)
                    found = record["count"] as? Int
                    try SoakClient.examine(record)
                } catch SealKitError.Code.unknownItem {}
                try check(
                    allowed.contains(found),
                    "\(id.recordName) holds \(String(describing: found)), and \(allowed) was acknowledged")
                count += 1
            }
        }
        try await checkNoAccusation(container, by: "a device that has seen nothing before")
        return count
    }
}
