import Foundation
import SealKit
import SealLab

/// One account on several devices, and the zones that they write to.
struct Load {
    let workers: [Worker]
    let zones: [RecordZone.ID]
    let assetBytes: Data
    private let account: Account

    static func make(
        _ origin: String, devices: Int, journal: Journal, folder: URL, random: inout SeededRandom
    ) async throws -> Load {
        journal.begin(round: 0)
        func transport() throws -> JournalTransport { JournalTransport(try HTTPTransport(server: origin), journal: journal) }
        let first = try await Account.create(transport: try transport(), deviceName: "device 0").account
        let others = try Devices.more(of: first, through: (1..<devices).map { _ in try transport() })
        let reader = try Devices.more(of: first, through: [try HTTPTransport(server: origin)])[0]
        let own = try Container(CrashTorture.container, account: first).privateDatabase
        var zones: [RecordZone.ID] = []
        for name in ["first", "second"] { zones.append(try await own.save(RecordZone(zoneName: name)).zoneID) }
        let assetBytes = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let assetFile = folder.appendingPathComponent("asset")
        try assetBytes.write(to: assetFile)
        var workers: [Worker] = []
        for (number, account) in ([first] + others).enumerated() {
            let container = try Container(CrashTorture.container, account: account)
            // The first call tells the server the account's identity in the container.
            _ = try await container.privateDatabase.allRecordZones()
            workers.append(
                Worker(
                    number: number, database: container.privateDatabase.fetchingAssets(.onDemand), zones: zones,
                    journal: journal, assetFile: assetFile, random: random.fork()))
        }
        return Load(workers: workers, zones: zones, assetBytes: assetBytes, account: reader)
    }

    /// A device that has seen nothing yet.
    func freshDevice() throws -> Database { try Container(CrashTorture.container, account: account).privateDatabase }
}
