import Foundation
import SealKit
import SealLab

/// One account on several devices, and the zones that they write to.
struct Load {
    let workers: [Worker]
    let upheaval: Upheaval
    let watcher: Watcher
    let zones: [RecordZone.ID]
    let assetBytes: Data
    let large: LargeAsset
    private let account: Account
    /// Of all that write and listen.
    private let containers: [(who: String, container: Container)]

    static func make(
        _ ground: any Ground, devices: Int, journal: Journal, random: inout SeededRandom
    ) async throws -> Load {
        journal.begin(round: 0)
        let folder = ground.folder
        func transport(isWriting: Bool = true) throws -> JournalTransport {
            JournalTransport(try ground.transport(), journal: journal, isWriting: isWriting)
        }
        let first = try await Account.create(transport: try transport(), deviceName: "device 0").account
        let others = try Devices.more(of: first, through: (1..<devices).map { _ in try transport() })
        func bystander(_ transport: any Transport) throws -> Account {
            try Devices.more(of: first, through: [transport])[0]
        }
        func open(_ account: Account) throws -> Container { try Container(CrashTorture.container, account: account) }
        let reader = try bystander(ground.transport())
        let own = try open(first).privateDatabase
        var zones: [RecordZone.ID] = []
        for name in ["first", "second"] { zones.append(try await own.save(RecordZone(zoneName: name)).zoneID) }
        let assetBytes = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let assetFile = folder.appendingPathComponent("asset")
        try assetBytes.write(to: assetFile)
        let large = try LargeAsset(in: folder)
        // Before anything is saved, so that it has nothing to catch up with.
        let listening = try open(bystander(ground.transport()))
        let marking = try open(bystander(ground.transport()))
        var containers = [
            (who: "the device that listens", container: listening),
            (who: "the device that saves what ends a catching up", container: marking),
        ]
        let watcher = try await Watcher(listening, marker: marking.privateDatabase, zones: zones)
        // The schema has all fields before anybody imports it again.
        for (name, file) in [("sample", assetFile), (LargeAsset.recordName(of: 0), large.file)] {
            var sample = Record(recordType: "Note", recordID: Record.ID(recordName: name, zoneID: zones[0]))
            Worker.fill(&sample, with: 1)
            sample["scan"] = Asset(fileURL: file)
            try await own.save(sample)
        }
        var workers: [Worker] = []
        for (number, account) in ([first] + others).enumerated() {
            let container = try Container(CrashTorture.container, account: account)
            // The first call tells the server the account's identity in the container.
            _ = try await container.privateDatabase.allRecordZones()
            containers.append(("device \(number)", container))
            workers.append(
                Worker(
                    number: number, database: container.privateDatabase.fetchingAssets(.onDemand), zones: zones,
                    journal: journal, assetFile: assetFile, large: large.file, random: random.fork()))
        }
        let token = try String(
            contentsOf: folder.appendingPathComponent("data.secrets/management.token"), encoding: .utf8)
        func management(_ container: String) throws -> ContainerManagement {
            try ContainerManagement(
                container, token: ManagementToken(token.trimmingCharacters(in: .newlines)),
                transport: transport(isWriting: false))
        }
        let upheaving = try open(bystander(transport(isWriting: false)))
        containers.append(("the device that changes much at once", upheaving))
        let upheaval = Upheaval(
            upheaving.privateDatabase,
            management: try management(CrashTorture.container),
            deployment: try management(CrashTorture.container + ".deployed"), journal: journal, random: random.fork())
        return Load(
            workers: workers, upheaval: upheaval, watcher: watcher, zones: zones, assetBytes: assetBytes,
            large: large, account: reader, containers: containers)
    }

    /// A device that has seen nothing yet.
    func freshDevice() throws -> Container { try Container(CrashTorture.container, account: account) }

    func checkNoViolations() async throws {
        for (who, container) in containers { try await checkNoAccusation(container, by: who) }
    }
}
