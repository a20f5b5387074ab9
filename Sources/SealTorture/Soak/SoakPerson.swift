import Foundation
import SealKit
import SealLab

/// Somebody with several devices, who has a zone of its own, and a zone that the person before shares with it.
struct SoakPerson {
    let clients: [SoakClient]
    private let account: Account
    private let zone: RecordZone.ID
    /// What all assets are.
    private let asset: Data

    static func make(
        count: Int, clientsOfEach: Int, _ server: ServerProcess, _ notes: SoakNotes, _ random: inout SeededRandom
    ) async throws -> [SoakPerson] {
        let (origin, folder) = (server.origin, server.folder)
        let file = folder.appendingPathComponent("soak-asset")
        let asset = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try asset.write(to: file)
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
            people.append(SoakPerson(clients: clients, account: person.account, zone: zone, asset: asset))
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
        func database(_ id: Record.ID) -> Database {
            if id.zoneID == zone { return container.privateDatabase }
            return id.zoneID.zoneName == zone.zoneName ? container.sharedDatabase : container.publicDatabase
        }
        var count = 0
        for client in clients {
            for id in await client.assets {
                try await compareAsset(of: id, in: database(id))
                count += 1
            }
            for (id, turn) in await client.turns {
                let found = try await database(id).record(for: id)["turn"] as? Int ?? 0
                try check(
                    found >= turn, "\(id.recordName) is at turn \(found), and \(turn) was acknowledged")
                count += 1
            }
            let promises = await client.promises
            for (id, allowed) in promises {
                var found: Int?
                do {
                    let record = try await database(id).record(for: id)
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

    private func compareAsset(of id: Record.ID, in database: Database) async throws {
        let found: Asset? = try await database.record(for: id)["scan"]
        let file = found?.fileURL
        defer { if let file { try? FileManager.default.removeItem(at: file) } }
        try check(
            file.flatMap { try? Data(contentsOf: $0) } == asset,
            "the asset of \(id.recordName) is not what was acknowledged")
    }
}
