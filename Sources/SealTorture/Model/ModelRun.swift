import SealKit
import SealLab

/// Plays steps against a server and against the model, one device at a time, and compares every answer.
struct ModelRun {
    static let container = "org.sealkit.model"
    static let zoneNames = ["alpha", "beta"]
    static let recordNames = (0..<9).map { "r\($0)" }

    var store = ModelStore()
    var devices: [ModelDevice]
    /// What the step that is being played does, for the report.
    var doing = ""

    init(origin: String, devices count: Int) async throws {
        let first = try await Account.create(transport: HTTPTransport(server: origin), deviceName: "device 0").account
        let others = try Devices.more(of: first, through: (1..<count).map { _ in try HTTPTransport(server: origin) })
        devices = try ([first] + others).map {
            ModelDevice(database: try Container(Self.container, account: $0).privateDatabase)
        }
    }

    /// - Parameter step: seeds the step's own choices, so that steps can be left out without changing the others.
    mutating func play(_ step: UInt64) async throws {
        var random = SeededRandom(seed: step)
        let device = random.below(devices.count)
        let zone = Self.zoneNames[random.below(Self.zoneNames.count)]
        switch random.below(100) {
        case 0..<5: try await makeZone(device, zone)
        case 5..<7: try await deleteZone(device, zone)
        case 7..<60: try await modify(device, zone, &random)
        case 60..<76: try await lookUp(device, zone, &random)
        case 76..<93: try await zoneChanges(device, zone, &random)
        case 93..<98: try await databaseChanges(device, &random)
        default: try await listZones(device)
        }
    }

    /// A device that has seen nothing finds what the model has, and nothing else.
    mutating func checkEnd() async throws {
        doing = "reads everything at the end"
        for index in devices.indices {
            devices[index].zoneTokens = [:]
            devices[index].databaseTokens = []
            for zone in Self.zoneNames { try await readAll(index, zone) }
            try await listZones(index)
        }
    }

    /// The code that a call fails with; nil when it does not.
    func code(_ body: () async throws(SealKitError) -> Void) async -> SealKitError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return error.code
        }
    }

    func checkCode(_ found: SealKitError.Code?, _ expected: SealKitError.Code?) throws {
        try check(found == expected, "fails with \(found?.rawValue ?? "nothing"), not with \(expected?.rawValue ?? "nothing")")
    }

    // MARK: Zones

    private mutating func makeZone(_ device: Int, _ zone: String) async throws {
        doing = "device \(device) makes zone \(zone)"
        let database = devices[device].database
        try checkCode(await code { () throws(SealKitError) in try await database.save(RecordZone(zoneName: zone)) }, nil)
        store.makeZone(zone)
    }

    private mutating func deleteZone(_ device: Int, _ zone: String) async throws {
        doing = "device \(device) deletes zone \(zone)"
        let database = devices[device].database
        let found = await code { () throws(SealKitError) in
            try await database.deleteRecordZone(withID: RecordZone.ID(zoneName: zone))
        }
        try checkCode(found, store.deleteZone(zone))
    }

    private mutating func listZones(_ device: Int) async throws {
        doing = "device \(device) lists zones"
        let found = try await devices[device].database.allRecordZones().map(\.zoneID.zoneName).sorted()
        let expected = store.zones.filter(\.value.isOpen).keys.sorted()
        try check(found == expected, "the zones are \(found), not \(expected)")
    }
}
